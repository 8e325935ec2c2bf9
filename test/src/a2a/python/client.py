"""The Python SDK of A2A, unmodified: finds an agent by its card, runs it, streams, cancels, and is told to pay."""

import asyncio
import json
import sys
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict
from jwt import PyJWKClient


def key_of(kid, jku):
    return PyJWKClient(jku).get_signing_key(kid).key


def asked(text, wait=True):
    message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration(return_immediately=not wait))


async def last_task(client, request):
    """The state and output of the task of a message, and how many events told of it."""
    state, output, message, count, task_id = None, "", "", 0, ""
    async for event in client.send_message(request):
        count += 1
        status = None
        if event.HasField("task"):
            status, task_id = event.task.status, event.task.id
            output += "".join(part.text for artifact in event.task.artifacts for part in artifact.parts)
        elif event.HasField("status_update"):
            status = event.status_update.status
        elif event.HasField("artifact_update"):
            piece = "".join(part.text for part in event.artifact_update.artifact.parts)
            output = output + piece if event.artifact_update.append else piece
        if status is not None:
            state = TaskState.Name(status.state)
            message = "".join(part.text for part in status.message.parts)
    return {"id": task_id, "state": state, "output": output, "message": message, "events": count}


async def main(job):
    headers = {"Authorization": f"Bearer {job['token']}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:

        async def connect(url, streaming):
            card = await A2ACardResolver(http, url).get_agent_card(
                signature_verifier=create_signature_verifier(key_of, ["EdDSA"])
            )
            return card, ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)

        card, waiting = await connect(job["url"], False)
        _, streaming = await connect(job["url"], True)
        _, failing = await connect(job["failing_url"], False)
        _, unpaid = await connect(job["unpaid_url"], True)

        async def held_with_push():
            held = await last_task(waiting, asked(job["held_task"], wait=False))
            await waiting.create_task_push_notification_config(
                TaskPushNotificationConfig(
                    id="mine",
                    task_id=held["id"],
                    url=job["push_url"],
                    authentication=AuthenticationInfo(scheme="Bearer", credentials="of-the-receiver"),
                )
            )
            return held["id"]

        async def configs(task_id):
            request = ListTaskPushNotificationConfigsRequest(task_id=task_id)
            return [each.id for each in (await waiting.list_task_push_notification_configs(request)).configs]

        # The first task has its push deleted; the push of the second task arrives.
        silent, held = await held_with_push(), await held_with_push()
        config = await waiting.get_task_push_notification_config(
            GetTaskPushNotificationConfigRequest(task_id=held, id="mine")
        )
        listed = await configs(silent)
        delete = DeleteTaskPushNotificationConfigRequest(task_id=silent, id="mine")
        await waiting.delete_task_push_notification_config(delete)
        unlisted = await configs(silent)
        await waiting.cancel_task(CancelTaskRequest(id=silent))
        cancelled = await waiting.cancel_task(CancelTaskRequest(id=held))
        return {
            "push_configs": [listed, unlisted],
            "card": MessageToDict(card),
            "run": await last_task(waiting, asked(job["task"])),
            "stream": await last_task(streaming, asked(job["task"])),
            "held": held,
            "push_url": config.url,
            "cancelled": TaskState.Name(cancelled.status.state),
            "failed": await last_task(failing, asked(job["task"])),
            "unpaid": await last_task(unpaid, asked(job["task"])),
        }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
