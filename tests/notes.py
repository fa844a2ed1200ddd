"""What a sweep says while it goes on, kept for a test."""

from deadzone.run.sweep.progress import Progress


class Notes(Progress):
    """Progress that remembers what it was told."""

    def __init__(self):
        self.told = []

    def note(self, sentence):
        self.told.append(str(sentence))

    close = note
