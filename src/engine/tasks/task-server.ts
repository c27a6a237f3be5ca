// An endpoint as a server of a task: in which form it is asked, at which path, with which body, and how its answers are read. Knows
// no task by name.
import { newId } from '../../base/runtime/ids.ts';
import { parseJson } from '../../base/json/index.ts';
import { encodeForm, Form } from '../../base/lib/form.ts';
import { type Slices, slicesOf } from '../../base/lib/slices.ts';
import { type EventSink, GatewayError, type Report } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import {
  findProtocol,
  type PieceSink,
  type Protocol,
  type TaskUpstream,
  type UpstreamCodec,
} from '../../protocols/index.ts';
import { isOneOf } from '../attempt/index.ts';
import { operationPath } from '../prepared-endpoint.ts';
import type { TaskParts } from './task-parts.ts';

/** An endpoint, and the form in which it is asked. */
export interface TaskServer<Asked, Made> {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  readonly upstream: TaskUpstream<Asked, Made>;
}

/** A host that serves a protocol for its owner may do a task in another form, or not at all. Throws GatewayError. */
export function serverAt<Asked, Made>(
  endpoint: Endpoint,
  { facts: { name }, codecs }: TaskParts<Asked, Made>,
): TaskServer<Asked, Made> {
  const protocol = findProtocol(endpoint.protocol);
  const codec = codecs.find(({ protocols }) => protocols.includes(endpoint.protocol));
  const upstream =
    endpoint.hosting === undefined
      ? codec?.upstream
      : endpoint.hosting.tasks?.[name] && (codec?.hosted ?? codec?.upstream);
  if (protocol && upstream) return { endpoint, protocol, upstream };
  throw unsupported(endpoint, `has no ${name}` + (codec ? ' there' : ''));
}

function unsupported({ slug, model, protocol }: Endpoint, why: string): GatewayError {
  return new GatewayError('unsupported', `${slug} serves ${model} over ${protocol}, which ${why}`, {
    param: 'model',
  });
}

/** Path of the task below the endpoint's base URL: that of its host, of its provider, or of the protocol. */
export function pathOf<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  { facts: { name } }: TaskParts<Asked, Made>,
): string {
  const own = endpoint.hosting?.tasks?.[name] ?? endpoint.tasks?.[name];
  return operationPath(endpoint, upstream.pathFor(endpoint.model), own);
}

/** Body of a request, and its media type where that is not JSON. @throws GatewayError for what cannot be said there */
export function bodyOf<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  asked: Asked,
  report: Report,
): { readonly body: Slices; readonly type?: string } {
  const body = upstream.encodeRequest(asked, endpoint, report);
  if (!(body instanceof Form)) return { body: slicesOf(JSON.stringify(body)) };
  // Members that a host wants in every body are members of JSON.
  if (endpoint.hosting) throw unsupported(endpoint, 'takes no forms there');
  const boundary = newId('form-');
  return { body: encodeForm(body, boundary), type: `multipart/form-data; boundary=${boundary}` };
}

/** Reads a whole answer. @param type its content type. @throws GatewayError `upstream_unavailable` for what is none */
export function readWhole<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  asked: Asked,
  type: string | null,
  text: string,
): Made {
  if (upstream.text && isOneOf(upstream.text.types, type)) return upstream.text.decode(text, asked, endpoint);
  return upstream.decodeResponse(parseJson(text), asked, endpoint);
}

/** Takes an answer of a server, piece by piece, or as a whole in one. */
export interface MadeSink<Made> {
  /** Takes a whole answer. */
  whole(made: Made, events: EventSink): void;
  /** Takes the pieces of a stream. */
  readonly pieces: (events: EventSink) => PieceSink<Made>;
}

/** The server's protocol as an attempt speaks it: the same errors and limits, another answer. */
export function speaking<Asked, Made>(
  { endpoint, protocol, upstream }: TaskServer<Asked, Made>,
  asked: Asked,
  task: string,
  { whole, pieces }: MadeSink<Made>,
): Protocol {
  const { text } = upstream;
  const codec: UpstreamCodec = {
    ...protocol.upstream,
    decodeResponse: (json, events) => whole(upstream.decodeResponse(json, asked, endpoint), events),
    decodeStream(events) {
      const decoder = upstream.decodeStream?.(pieces(events), asked, endpoint);
      if (decoder) return decoder;
      throw new GatewayError(
        'upstream_unavailable',
        `${endpoint.slug} streamed something instead of ${task}`,
      );
    },
    ...(text && {
      text: {
        types: text.types,
        decode: (body, events) => whole(text.decode(body, asked, endpoint), events),
      },
    }),
  };
  return { name: protocol.name, upstream: codec };
}
