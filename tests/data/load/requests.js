// Requests at a constant arrival rate: k6 is told the rate and the rest by the environment.
import http from "k6/http";

export const options = {
  scenarios: {
    load: {
      executor: "constant-arrival-rate",
      rate: Number(__ENV.RATE),
      timeUnit: "1s",
      duration: `${__ENV.DURATION_S}s`,
      preAllocatedVUs: Number(__ENV.USERS),
    },
  },
  thresholds: { http_req_duration: [`p(99)<${__ENV.P99_MS || 10000}`] },
};

export default function () {
  http.get(__ENV.URL);
}
