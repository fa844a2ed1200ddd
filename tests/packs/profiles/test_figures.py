import subprocess
from xml.etree import ElementTree

import pytest
from needs import needs

from deadzone_profiles.comparison import compare_profiles
from deadzone_profiles.flame_graph import flame_graph, flame_tree
from deadzone_profiles.pairing import pair_up
from packs.profiles.making import cpu, recorded

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def server():
    return compare_profiles(recorded("cpu-before-1"), recorded("cpu-after-1"))


def test_identical_profiles_have_a_flame_graph_too():
    assert "identical" in flame_graph(compare_profiles(cpu({"a.f": 5}), cpu({"a.f": 5})))


def test_the_tree_shows_what_vanished_and_what_is_new():
    sides = ([cpu({"m;old": 30, "m;k": 10})], [cpu({"m;new": 20, "m;k": 10})])
    nodes = {(node.name, node.level): node for node in flame_tree(pair_up(*sides))}
    assert (nodes["old", 2].before, nodes["old", 2].after) == (30e7, 0)
    assert (nodes["new", 2].before, nodes["new", 2].after) == (0, 20e7)
    assert nodes["m", 1].width == nodes["all", 0].width == 60e7
    assert [nodes[name, 2].left for name in ("k", "new", "old")] == [0, 10e7, 30e7]


def test_every_box_lies_on_its_caller(server):
    nodes = flame_tree(server.pair)
    for node in nodes[1:]:
        below = [n for n in nodes if n.level == node.level - 1 and n.left <= node.left * (1 + 1e-9)]
        assert any(node.left + node.width <= (n.left + n.width) * (1 + 1e-9) for n in below), node


def test_the_flame_graph_is_well_formed_escaped_and_self_contained():
    hostile = "std::vector<int>&\"'</text><script>alert(1)</script>"
    sides = (cpu({f"main;{hostile}": count}) for count in (9, 4))
    drawn = flame_graph(compare_profiles(*sides))
    root = ElementTree.fromstring(drawn)
    (script,) = root.findall(f".//{SVG}script")
    assert "alert" not in script.text
    tooltips = [title.text for title in root.iter(f"{SVG}title")]
    said = "90.00 ms before, 40.00 ms after (-50.00 ms, -55.6%)"
    assert any(tip.startswith(hostile) and said in tip for tip in tooltips)
    assert "href" not in drawn and "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_a_label_begins_with_the_sign_of_its_change(server):
    root = ElementTree.fromstring(flame_graph(server))
    labels = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert any(label.startswith("- mdns") for label in labels)


def test_a_click_zooms_into_a_box(server, tmp_path):
    click = (
        "<script>[].slice.call(document.querySelectorAll('g.box')).find(function (box) {return "
        "box.querySelector('title').textContent.indexOf('mediaserver/rtp.Serve') === "
        "0;}).dispatchEvent(new MouseEvent('click'));</script>"
    )
    page = tmp_path / "page.html"
    page.write_text(f"<html><body>{flame_graph(server)}{click}</body></html>", encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    command = (needs("chromium"), *options, page.as_uri())
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    if "g" not in shown:
        pytest.skip("Chromium does not run here")
    boxes = shown.split('class="box"')[1:] or shown.split("class='box'")[1:]
    hidden = [box for box in boxes if "display: none" in box.split(">")[0]]
    assert any("<title>mediaserver/mdns" in box for box in hidden)
    target = next(box for box in boxes if "<title>mediaserver/rtp.Serve" in box)
    assert 'x="12"' in target and 'width="1175.5"' in target
