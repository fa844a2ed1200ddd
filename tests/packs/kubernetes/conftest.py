from report.repositories import english as english
