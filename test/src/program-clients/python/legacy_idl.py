"""Writes an IDL of spec 0.1.0 as the older form, the only one that anchorpy 0.21 reads."""


def to_legacy(idl: dict) -> dict:
    """The same program in the form that Anchor wrote before 0.30. Seeds and discriminators have no place there:
    anchorpy derives the same discriminators from the names."""
    types = {entry["name"]: entry for entry in idl["types"]}
    account_names = [entry["name"] for entry in idl["accounts"]]
    event_names = [entry["name"] for entry in idl["events"]]
    return {
        "version": idl["metadata"]["version"],
        "name": idl["metadata"]["name"],
        "instructions": [_instruction(entry) for entry in idl["instructions"]],
        "accounts": [_type(types[name]) for name in account_names],
        "types": [_type(entry) for name, entry in types.items() if name not in account_names + event_names],
        "events": [_event(types[name]) for name in event_names],
        "errors": idl["errors"],
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _value_type(value):
    if value == "pubkey":
        return "publicKey"
    if isinstance(value, str):
        return value
    if "defined" in value:
        return {"defined": value["defined"]["name"]}
    if "array" in value:
        return {"array": [_value_type(value["array"][0]), value["array"][1]]}
    if "vec" in value:
        return {"vec": _value_type(value["vec"])}
    return {"option": _value_type(value["option"])}


def _field(field: dict) -> dict:
    return {"name": _camel(field["name"]), "type": _value_type(field["type"])}


def _instruction(instruction: dict) -> dict:
    return {
        "name": _camel(instruction["name"]),
        "accounts": [
            {
                "name": _camel(account["name"]),
                "isMut": account.get("writable", False),
                "isSigner": account.get("signer", False),
                "isOptional": account.get("optional", False),
            }
            for account in instruction["accounts"]
        ],
        "args": [_field(arg) for arg in instruction["args"]],
    }


def _type(entry: dict) -> dict:
    body = entry["type"]
    if body["kind"] == "struct":
        return {
            "name": entry["name"],
            "type": {"kind": "struct", "fields": [_field(field) for field in body["fields"]]},
        }
    return {"name": entry["name"], "type": body}


def _event(entry: dict) -> dict:
    fields = [{**_field(field), "index": False} for field in entry["type"]["fields"]]
    return {"name": entry["name"], "fields": fields}
