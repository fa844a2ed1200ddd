import pytest

from deadzone_profiles.model import package_of


@pytest.mark.parametrize(
    ("function", "package"),
    [("runtime.mallocgc", "runtime"),
     ("github.com/pion/mdns.(*Conn).readLoop", "github.com/pion/mdns"),
     ("gopkg.in/yaml%2ev2.(*Node).Decode", "gopkg.in/yaml.v2"),
     ("main.Map[github.com/a/b.T]", "main"), ("net/http.(*conn).serve.func1", "net/http"),
     ("std::vector<a::b>::push_back(int)", "std"), ("std::sort<int>", "std"),
     ("core::fmt::write", "core"),
     ("handle (site-packages/app/web.py:12)", "site-packages/app/web.py"),
     ("onRequest (file:///srv/app.mjs:10:3)", "file:///srv/app.mjs"),
     ("java/util/HashMap.get", "java/util/HashMap"),
     ("pkg/Foo$$Lambda$14/0x0000000800c03000.run", "pkg/Foo$$Lambda"),
     ("ServerLevel$$Lambda.0x00007f7e6d9dd8e0.accept", "ServerLevel$$Lambda"),
     ("void ns::f<int>(int)", "ns"), ("tcp_sendmsg_[k]", "(kernel)"),
     ("[libc.so.6]", "[libc.so.6]"), ("parse_line.constprop.0", "[tool]"), ("malloc", "[tool]")],
)  # fmt: skip
def test_the_package_is_read_from_the_name(function, package):
    assert package_of(function, "tool") == package


def test_a_name_alone_has_no_package():
    assert package_of("malloc") == "(no package)"
