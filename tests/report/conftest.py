import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from report.repositories import analysed as analysed
from report.repositories import english as english
from report.repositories import make_run as make_run
from report.repositories import repository as repository
from report.repositories import sound as sound
