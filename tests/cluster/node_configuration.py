"""What the node's programs are told: configuration files, identities and command lines."""

import json
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from node_certificates import make_client_certificate
from node_places import API_PORT, NAME, NODE, NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK, State

CONTAINERD = "/run/containerd/containerd.sock"
"""Where cAdvisor looks for it, in the node's own mount namespace."""

ETCD = "http://127.0.0.1:2379"

PAUSE_IMAGE = "deadzone.test/pause:1"

IDENTITIES = {
    "admin": ("admin", "system:masters"),
    "kubelet": (f"system:node:{NODE}", "system:nodes"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "proxy": ("system:kube-proxy", "system:node-proxier"),
}
"""User and group by the name of the kubeconfig."""


@dataclass(frozen=True)
class Service:
    """One program of the node, in the order of starting.

    ready: address and port, or path of a socket, that answers once the program serves.
    """

    name: str
    argv: tuple[str, ...]
    ready: tuple[str, int] | str | None = None


def write_configuration(state: State, programs: Path, snapshotter: str) -> None:
    """Write every file that the programs read, the administrator's kubeconfig, and services.json
    for node_init."""
    folder = state.configuration
    folder.mkdir(parents=True)
    tokens = {name: secrets.token_hex(16) for name in IDENTITIES}
    (folder / "tokens.csv").write_text(
        "".join(
            f'{tokens[name]},{user},{name},"{group}"\n'
            for name, (user, group) in IDENTITIES.items()
        )
    )
    for name, token in tokens.items():
        path = state.kubeconfig if name == "admin" else folder / f"{name}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(_kubeconfig(state, name, token), indent=1))
    _write_node(state, snapshotter, [*_control_plane(state, programs), *_node(state, programs)])


def write_worker_configuration(state: State, main: State, programs: Path, snapshotter: str) -> None:
    """The same for a node that joins the cluster of another: it runs pods, and no part of the
    control plane."""
    folder = state.configuration
    folder.mkdir(parents=True)
    state.certificates.symlink_to(main.certificates)
    make_client_certificate(
        main.certificates, folder, "kubelet", f"/O=system:nodes/CN=system:node:{NODE}"
    )
    shutil.copy(main.kubeconfig, state.kubeconfig)
    shutil.copy(main.configuration / "proxy.kubeconfig", folder / "proxy.kubeconfig")
    config = json.loads(main.kubeconfig.read_text())
    files = {"client-certificate": f"{folder}/kubelet.crt", "client-key": f"{folder}/kubelet.key"}
    config["users"][0]["user"] = files
    (folder / "kubelet.kubeconfig").write_text(json.dumps(config))
    _write_node(state, snapshotter, _node(state, programs))


def _write_node(state: State, snapshotter: str, services: list[Service]) -> None:
    folder = state.configuration
    (folder / "cni").mkdir()
    (folder / "containerd.toml").write_text(_containerd(state, snapshotter))
    (folder / "cni" / "10-bridge.conflist").write_text(json.dumps(_cni()))
    (folder / "kubelet.json").write_text(json.dumps(_kubelet(state)))
    (folder / "proxy.json").write_text(json.dumps(_proxy(state)))
    (folder / "resolv.conf").write_text("")
    (folder / "services.json").write_text(json.dumps([asdict(service) for service in services]))


def _kubeconfig(state: State, user: str, token: str) -> dict[str, Any]:
    authority = str(state.certificates / "ca.crt")
    cluster = {"server": f"https://{NODE_ADDRESS}:{API_PORT}", "certificate-authority": authority}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": user}}],
        "current-context": NAME,
    }


def _containerd(state: State, snapshotter: str) -> str:
    # Negative oom_score_adj takes CAP_SYS_RESOURCE, which containers that build and test often
    # lack.
    return f"""\
version = 2
root = "{state.folder}/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
address = "{CONTAINERD}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE_IMAGE}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "{snapshotter}"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{state.configuration}/cni"
"""


def _cni() -> dict[str, Any]:
    subnet, routes = f"{POD_NETWORK}.0/24", [{"dst": "0.0.0.0/0"}]
    addresses = {"type": "host-local", "subnet": subnet, "routes": routes}
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "ipMasq": False}
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    plugins = [{**bridge, "ipam": addresses}, portmap]
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": plugins}


def _kubelet(state: State) -> dict[str, Any]:
    evicted = {"memory.available": "64Mi", "nodefs.available": "1%", "imagefs.available": "1%"}
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(state.certificates / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{NAME}",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD}",
        "enforceNodeAllocatable": [],
        "evictionHard": evicted,
        "failCgroupV1": False,
        "failSwapOn": False,
        "imageGCHighThresholdPercent": 100,  # no registry could give a removed image back
        "localStorageCapacityIsolation": True,  # without it the kubelet has no /stats/summary
        "maxPods": 60,
        "podLogsDir": str(state.folder / "pod-logs"),
        "registerNode": True,
        "resolvConf": str(state.configuration / "resolv.conf"),
        "volumePluginDir": str(state.folder / "volume-plugins"),
    }


def _proxy(state: State) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": str(state.configuration / "proxy.kubeconfig")},
        "clusterCIDR": f"{POD_NETWORK}.0/24",
        "hostnameOverride": NODE,
        # the tables of the kernel are not the node's to size
        "conntrack": {"maxPerCore": 0, "min": 0},
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
    }


def _control_plane(state: State, programs: Path) -> list[Service]:
    configuration, certificates = state.configuration, state.certificates
    etcd = (
        *("etcd", "--data-dir=/run/etcd", f"--listen-client-urls={ETCD}"),
        f"--advertise-client-urls={ETCD}",
        *("--listen-peer-urls=http://127.0.0.1:2380", "--logger=zap", "--log-level=warn"),
    )
    controllers = (
        str(programs / "kube-controller-manager"),
        f"--kubeconfig={configuration}/controller-manager.kubeconfig",
        f"--service-account-private-key-file={certificates}/service-accounts.key",
        f"--root-ca-file={certificates}/ca.crt",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--cert-dir={state.folder}/controller-manager",
        f"--flex-volume-plugin-dir={state.folder}/volume-plugins",
    )
    scheduler = (
        str(programs / "kube-scheduler"),
        f"--kubeconfig={configuration}/scheduler.kubeconfig",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
    )
    return [
        Service("etcd", etcd, ("127.0.0.1", 2379)),
        Service("kube-apiserver", _api_server(state, programs), (NODE_ADDRESS, API_PORT)),
        Service("kube-controller-manager", controllers),
        Service("kube-scheduler", scheduler),
    ]


def _node(state: State, programs: Path) -> list[Service]:
    configuration = state.configuration
    kubelet = (
        str(programs / "kubelet"), f"--config={configuration}/kubelet.json",
        f"--kubeconfig={configuration}/kubelet.kubeconfig", f"--root-dir={state.folder}/kubelet",
        f"--cert-dir={state.folder}/kubelet-certificates", f"--hostname-override={NODE}",
        f"--node-ip={NODE_ADDRESS}",
    )  # fmt: skip
    containerd = ("containerd", f"--config={configuration}/containerd.toml")
    proxy = (str(programs / "kube-proxy"), f"--config={configuration}/proxy.json")
    return [
        Service("containerd", containerd, CONTAINERD),
        Service("kube-proxy", proxy),
        Service("kubelet", kubelet),
    ]


def _api_server(state: State, programs: Path) -> tuple[str, ...]:
    certificates = state.certificates
    return (
        str(programs / "kube-apiserver"), f"--etcd-servers={ETCD}",
        f"--advertise-address={NODE_ADDRESS}", f"--secure-port={API_PORT}",
        f"--service-cluster-ip-range={SERVICE_NETWORK}.0/24", "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction,LimitRanger,ResourceQuota",
        f"--token-auth-file={state.configuration}/tokens.csv",
        f"--client-ca-file={certificates}/ca.crt", f"--tls-cert-file={certificates}/apiserver.crt",
        f"--tls-private-key-file={certificates}/apiserver.key",
        f"--kubelet-client-certificate={certificates}/apiserver-to-kubelet.crt",
        f"--kubelet-client-key={certificates}/apiserver-to-kubelet.key",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={certificates}/service-accounts.pub",
        f"--service-account-signing-key-file={certificates}/service-accounts.key",
        f"--cert-dir={state.folder}/apiserver",
    )  # fmt: skip
