#!/usr/bin/env python3
"""Checks the Helm chart in deploy/helm/bsdb and the plain manifests beside it.

  build-support/check_chart.py

Lints the chart and renders it with its defaults and with each file in its ci/, and checks that
- values.yaml and values.schema.json have the same values, and wrong values are refused;
- each object fits the schema of Kubernetes (kubernetes-validate, if it is installed);
- each pod satisfies the pod security standard "restricted", and has a root file system that is read-only;
- selectors, volumes, ports and probes refer to what is there;
- `bsdb serve --help` knows every option that pods are started with;
- kubernetes.yaml has the content of the chart's default output, and the chart's alerts are those of deploy/monitoring.

Needs helm and PyYAML; HELM=PATH names another helm. Exit code 1: something is wrong; 2: the check could not run.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART = ROOT / "deploy" / "helm" / "bsdb"
KUBERNETES = ("1.23.0", "1.30.0", "1.34.0")
HELM = os.environ.get("HELM", "helm")
ALERTS = ROOT / "deploy" / "monitoring" / "alerts.yaml"

problems = []


def problem(text):
    problems.append(text)
    print(f"error: {text}", file=sys.stderr)


def stop(text):
    print(f"check_chart: {text}", file=sys.stderr)
    raise SystemExit(2)


try:
    import yaml
except ImportError:
    stop("PyYAML is missing: pip install pyyaml")
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None


def helm(*arguments):
    return subprocess.run([HELM, *arguments], capture_output=True, text=True)


def render(version, *options):
    done = helm("template", "bsdb", str(CHART), "--kube-version", version, *options)
    if done.returncode:
        problem(f"helm template {' '.join(options)}: {done.stderr}")
        return []
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def described(one):
    return f"{one['kind']} {one['metadata']['name']}"


# --- rules ---


def fits_schema(where, one):
    if not kubernetes_validate or one["apiVersion"].startswith(("monitoring.coreos.com", "kustomize.config")):
        return
    try:
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as e:
        problem(f"{where}: {described(one)}: {e.message} at {list(e.path)}")


def restricted(where, pod):
    """The pod security standard "restricted", and what this project adds to it."""
    of_pod = pod.get("securityContext", {})
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(field):
            problem(f"{where}: {field}")
    allowed = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
    for volume in pod.get("volumes", []):
        if set(volume) - {"name"} - allowed:
            problem(f"{where}: the volume {volume} is of a type that is not allowed")
    if of_pod.get("sysctls"):
        problem(f"{where}: sysctls")
    for container in pod.get("initContainers", []) + pod["containers"]:
        own = container.get("securityContext", {})
        both = {**of_pod, **own}
        if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
            problem(f"{where}: allowPrivilegeEscalation is not false")
        if own.get("capabilities", {}).get("drop") != ["ALL"] or set(own["capabilities"].get("add", [])) - {"NET_BIND_SERVICE"}:
            problem(f"{where}: capabilities")
        if both.get("runAsNonRoot") is not True or not both.get("runAsUser"):
            problem(f"{where}: may run as root")
        if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            problem(f"{where}: seccompProfile")
        if any("hostPort" in port for port in container.get("ports", [])):
            problem(f"{where}: hostPort")
        if own.get("readOnlyRootFilesystem") is not True:
            problem(f"{where}: the root file system is writable")
        if not any(mount["mountPath"] == "/tmp" and not mount.get("readOnly") for mount in container["volumeMounts"]):
            problem(f"{where}: /tmp is not writable")
    if pod.get("automountServiceAccountToken") is not False:
        problem(f"{where}: mounts a token of the service account")
    user = re.search(r"^USER (\d+):(\d+)", (ROOT / "deploy" / "Dockerfile").read_text(), re.M)
    if user is None or (str(of_pod.get("runAsUser")), str(of_pod.get("runAsGroup"))) != user.groups():
        problem(f"{where}: runs as another user than the image, whose user has an entry in /etc/passwd")


def consistent(where, objects, known_options):
    pods = [one for one in objects if one["kind"] in ("Deployment", "StatefulSet")]
    for one in pods:
        spec, template = one["spec"], one["spec"]["template"]
        here = f"{where}: {described(one)}"
        restricted(here, template["spec"])
        labels = template["metadata"]["labels"]
        if not spec["selector"]["matchLabels"].items() <= labels.items():
            problem(f"{here}: does not select its own pods")
        container = template["spec"]["containers"][0]
        volumes = {volume["name"] for volume in template["spec"]["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        if volumes != mounts:
            problem(f"{here}: volumes {sorted(volumes)}, but mounts {sorted(mounts)}")
        ports = {port["name"] for port in container["ports"]}
        scheme = "HTTPS" if "--tls-cert" in container["args"] else "HTTP"
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            get = container[name]["httpGet"]
            if get["port"] not in ports or get.get("scheme", "HTTP") != scheme:
                problem(f"{here}: {name} does not fit the server")
        if template["spec"]["terminationGracePeriodSeconds"] < 5 + 10:
            problem(f"{here}: has less time to end than preStop and draining take")
        for option in container["args"][1:]:
            if re.match(r"--?[a-z]", option, re.I) and option not in known_options:
                problem(f"{here}: bsdb serve has no option {option}")
        for other in objects:
            chosen = other["spec"].get("selector", other["spec"].get("podSelector")) if "spec" in other else None
            if other["kind"] == "Service":
                if not chosen.items() <= labels.items():
                    problem(f"{where}: {described(other)} selects no pod")
                if not {port["targetPort"] for port in other["spec"]["ports"]} <= ports:
                    problem(f"{where}: {described(other)} has a port that no pod has")
            elif other["kind"] in ("PodDisruptionBudget", "NetworkPolicy"):
                if not chosen["matchLabels"].items() <= labels.items():
                    problem(f"{where}: {described(other)} selects no pod")
            elif other["kind"] == "ServiceMonitor":
                fitting = selected(other, objects)
                if len(fitting) != 1:
                    problem(f"{where}: {described(other)} selects {len(fitting)} services")
    if len(pods) != 1:
        problem(f"{where}: {len(pods)} deployments or stateful sets")


def plain(value):
    """Without what only Helm needs, to be compared with kubernetes.yaml."""
    helms = ("app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
             "helm.sh/resource-policy")  # fmt: skip
    if isinstance(value, dict):
        kept = {key: plain(one) for key, one in value.items() if key not in helms and key != "imagePullPolicy"}
        return {key: one for key, one in kept.items() if one != {}}
    return [plain(one) for one in value] if isinstance(value, list) else value


def differences(path, one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(f"{path}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other)):
            yield from differences(f"{path}[{number}]", *pair)
    elif one != other:
        yield f"{path}: {one} in kubernetes.yaml, {other} in the chart"


def same_keys(path, values, schema):
    """Each value has a schema and each schema a value."""
    properties = schema.get("properties")
    if properties is None:
        return
    for key in sorted(set(values) ^ (set(properties) - {"global"})):
        problem(f"{path}{key} is in only one of values.yaml and values.schema.json")
    for key, value in values.items():
        if isinstance(value, dict) and key in properties:
            same_keys(f"{path}{key}.", value, properties[key])


def options_of_serve():
    """From the text of its help, and from the texts that this shares with other commands."""
    resources = ROOT / "bsdb-tools" / "src" / "main" / "resources" / "tech" / "bsdb" / "tools" / "help"
    texts = [path.read_text() for path in [resources / "serve.txt", *sorted((resources / "shared").glob("*.txt"))]]
    return set(re.findall(r"^ *(--?[a-zA-Z][\w-]*)", "\n".join(texts), re.M))


def selected(monitor, objects):
    """The services that a ServiceMonitor selects."""
    selector = monitor["spec"]["selector"]
    services = [(one, one["metadata"]["labels"]) for one in objects if one["kind"] == "Service"]
    return [service for service, labels in services if selector["matchLabels"].items() <= labels.items()
            and not any(e["key"] in labels for e in selector["matchExpressions"])]  # fmt: skip


def rules(objects):
    """The rules; with a ServiceMonitor, for the job that the Prometheus Operator names after the service it selects."""
    text = ALERTS.read_text()
    for monitor in (one for one in objects if one["kind"] == "ServiceMonitor"):
        for service in selected(monitor, objects):
            text = text.replace('job=~".*bsdb.*"', f'job="{service["metadata"]["name"]}"')
    return yaml.safe_load(text)


def main():
    if sys.argv[1:]:
        print(__doc__)
        raise SystemExit(0 if sys.argv[1] in ("-h", "--help") else 2)
    if not shutil.which(HELM):
        stop(f"{HELM} is missing: go install helm.sh/helm/v3/cmd/helm@latest")
    if not kubernetes_validate:
        print("kubernetes-validate is not installed: the objects were not compared with Kubernetes' schemas")
    done = helm("lint", "--strict", "--kube-version", KUBERNETES[-1], str(CHART))
    if done.returncode:
        problem(f"helm lint: {done.stdout}{done.stderr}")
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    same_keys("", values, json.loads((CHART / "values.schema.json").read_text()))
    known_options = options_of_serve()
    if "--follow" not in known_options:
        stop("the options of bsdb serve were not found in bsdb-tools/src/main")
    cases = {"defaults": []} | {path.name: ["-f", str(path)] for path in sorted((CHART / "ci").glob("*.yaml"))}
    for name, options in cases.items():
        for version in KUBERNETES:
            objects = render(version, *options)
            for one in objects:
                fits_schema(f"{name} {version}", one)
                if one["kind"] == "PrometheusRule" and one["spec"] != rules(objects):
                    problem(f"{name}: the rules are not those of {ALERTS.relative_to(ROOT)}")
            if objects:
                consistent(name, objects, known_options)
    if (CHART / "files" / "alerts.yaml").read_bytes() != ALERTS.read_bytes():
        problem("the chart has other alerts: cp deploy/monitoring/alerts.yaml deploy/helm/bsdb/files/")
    # wrong values
    for setting, reason in {
        "replicas=many": "replicas",
        "replica=3": "replica",
        "preload=data": "preload",
        "datasets[0].name=users": "datasets",
        "datasets[0].name=7,datasets[0].claim=users": "datasets",
        "follow.source=s3a://b/u,datasets[0].name=users,datasets[0].claim=users": "follow.source is for a single data set",
        "tokens.secretName=t,serviceMonitor.enabled=true": "serviceMonitor.token.secretName",
        "tls.secretName=t,tls.clientCa=ca.crt": "tls.clientCa needs",
    }.items():
        done = helm("template", "bsdb", str(CHART), "--kube-version", KUBERNETES[-1], "--set", setting)
        if done.returncode == 0 or reason not in done.stderr:
            problem(f"--set {setting} is not refused because of {reason}: {done.stderr}")
    # the plain manifests
    manifest = [one for one in yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()) if one]
    cluster = [one for one in yaml.safe_load_all((ROOT / "deploy" / "cluster" / "statefulset.yaml").read_text()) if one]
    for where, objects in (("kubernetes.yaml", manifest), ("cluster/statefulset.yaml", cluster)):
        for one in objects:
            fits_schema(where, one)
        consistent(where, objects, known_options)
    by_name = lambda objects: {described(one): plain(one) for one in objects}
    for text in differences("", by_name(manifest), by_name(render(KUBERNETES[-1]))):
        problem(text.lstrip("."))
    with tempfile.TemporaryDirectory() as scratch:
        done = helm("package", str(CHART), "-d", scratch)
        if done.returncode:
            problem(f"helm package: {done.stderr}")
    print(f"{len(cases)} sets of values for {len(KUBERNETES)} versions of Kubernetes: " + (f"{len(problems)} problems" if problems else "ok"))
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
