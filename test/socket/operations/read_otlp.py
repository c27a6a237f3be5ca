# Reads an export of traces in JSON with the official protobuf definitions, as strictly as they are, and writes what it
# understood: `DRAGOMAN_PYTHON` needs `opentelemetry-proto`.
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_bytes(node):
    """OTLP writes ids in hex where the protobuf mapping of JSON has base64."""
    if isinstance(node, list):
        return [with_bytes(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {}
    for name, value in node.items():
        if name in IDS:
            raw = bytes.fromhex(value)
            assert len(raw) == IDS[name] and any(raw), name
            found[name] = base64.b64encode(raw).decode()
        else:
            found[name] = with_bytes(value)
    return found


request = ExportTraceServiceRequest()
json_format.ParseDict(with_bytes(json.load(sys.stdin)), request)
spans = [
    {
        "name": span.name,
        "kind": span.kind,
        "trace": span.trace_id.hex(),
        "id": span.span_id.hex(),
        "parent": span.parent_span_id.hex(),
        "ms": (span.end_time_unix_nano - span.start_time_unix_nano) // 1_000_000,
        "status": span.status.code,
        "attributes": {each.key: each.value.WhichOneof("value") for each in span.attributes},
    }
    for resource in request.resource_spans
    for scope in resource.scope_spans
    for span in scope.spans
]
json.dump(spans, sys.stdout)
