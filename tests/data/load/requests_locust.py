"""Users that each ask at an even pace, so that all of them together make RATE requests a second."""

import os

from locust import HttpUser, constant_throughput, task


class Asking(HttpUser):
    wait_time = constant_throughput(float(os.environ["RATE"]) / float(os.environ["USERS"]))

    @task
    def ask(self) -> None:
        self.client.get("/")
