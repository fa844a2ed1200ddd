"""Users that each ask at an even pace, so that all of them together make RATE requests a second."""

import os

from locust import FastHttpUser, constant_throughput, task


class Asking(FastHttpUser):
    # The other client of Locust, on `requests`, takes so much CPU that its own lag stands in its
    # latencies.
    wait_time = constant_throughput(float(os.environ["RATE"]) / float(os.environ["USERS"]))

    @task
    def ask(self) -> None:
        self.client.get("/")
