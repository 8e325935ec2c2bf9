"""Holds manifests against the schemas of Kubernetes: {"manifests": [...], "versions": [...]} on standard input.

Answers {"faults": [...], "unknown": [...]}: the faults, and kinds that Kubernetes itself does not have.
"""

import json
import sys

import kubernetes_validate

job = json.load(sys.stdin)
faults, unknown = [], set()
for version in job["versions"]:
    for manifest in job["manifests"]:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            path = ".".join(str(part) for part in error.path)
            faults.append(f"{version}: {manifest['kind']}: {path}: {error.message}")
        except kubernetes_validate.SchemaNotFoundError:
            unknown.add(manifest["kind"])
json.dump({"faults": faults, "unknown": sorted(unknown)}, sys.stdout)
