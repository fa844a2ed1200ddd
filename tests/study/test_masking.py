import pytest

from deadzone.study.loading import dump_study, parse_study
from deadzone.study.masking import masked, masked_line


@pytest.mark.parametrize(
    ("text", "clean"),
    [("http://user:pass@host:80/x", "http://***@host:80/x"),
     ("https://token@host/", "https://***@host/"), ("https://user:p@ss@host/", "https://***@host/"),
     ("cannot reach ftp://a:b@c and http://d:e@f.", "cannot reach ftp://***@c and http://***@f."),
     ("http://h/?a=1&access_token=abc&b=2", "http://h/?a=1&access_token=***&b=2"),
     ("http://h/?X-Amz-Signature=ff00#top", "http://h/?X-Amz-Signature=***#top"),
     ("http://h/?api_key=1&password=2", "http://h/?api_key=***&password=***"),
     ("curl -H 'Authorization: Bearer abc'", "curl -H 'Authorization: ***'"),
     ("Authorization: ApiKey c2Vj", "Authorization: ***"),
     ("Authorization: Negotiate YII", "Authorization: ***"),
     ("http://host/path@2x.png?size=3", "http://host/path@2x.png?size=3"),
     ("me@example.org wrote to http://host/", "me@example.org wrote to http://host/"),
     ("{service_url}/frames?monkey=1", "{service_url}/frames?monkey=1")],
)  # fmt: skip
def test_secrets_go_and_the_rest_stays(text, clean):
    assert masked(text) == clean
    assert masked(clean) == clean


def test_a_study_is_written_down_without_its_secrets():
    study = parse_study(
        "study: s\n"
        "service: {url: 'http://me:sesame@host:81'}\n"
        "workload: {kind: http, url: 'http://host/?token=sesame', headers: {Cookie: sesame, "
        "Accept: text/html}}\n"
        "factors: {colour: [1]}\n",
        "s.yaml",
    )
    text = dump_study(study)
    assert "sesame" not in text
    assert "http://***@host:81" in text
    assert "text/html" in text
    assert dump_study(parse_study(text, "again")) == text


def test_a_line_has_no_secret_that_its_names_tell_of():
    secrets = [f"sekrit{i}" for i in range(9)]
    line = (
        "deadzone try -L n 1,2 -- 'API_TOKEN={} MYSQL_PWD={} ./x --password {} --token={} -u me:{} "
        '-H "X-Api-Key: {}" -H "Cookie: {}" --api-key {} --max-tokens 512 n_tokens=4 http://a:{}@h/\''
    ).format(*secrets)
    shown = masked_line(line)
    assert not any(secret in shown for secret in secrets)
    assert "--max-tokens 512 n_tokens=4" in shown and "-L n 1,2 -- " in shown
