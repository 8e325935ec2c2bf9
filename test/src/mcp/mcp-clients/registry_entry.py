"""Checks a server.json by the MCP registry's schema. Reads the entry from stdin, writes the list of its faults to stdout,
both JSON. The schema is the released one that the entry names, as the package skillsaw carries it."""

import importlib.util
import json
import pathlib
import sys

from jsonschema.validators import validator_for

entry = json.load(sys.stdin)
release = entry["$schema"].split("/")[-2].replace("-", "_")
package = pathlib.Path(importlib.util.find_spec("skillsaw").submodule_search_locations[0])
schema = json.loads((package / f"schemas/mcp_registry/v{release}/server.schema.json").read_text())
if schema["$id"] != entry["$schema"]:
    raise ValueError(f"{schema['$id']} is not {entry['$schema']}")
kind = validator_for(schema)
kind.check_schema(schema)
errors = kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(entry)
json.dump([f"{error.json_path}: {error.message}" for error in errors], sys.stdout)
