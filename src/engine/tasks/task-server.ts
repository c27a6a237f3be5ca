// An endpoint as the server of a task: path and body of its requests, and how its answers are read.
import { newId } from '../../base/runtime/ids.ts';
import { parseJson } from '../../base/json/index.ts';
import { encodeForm, Form } from '../../base/lib/form.ts';
import { type Slices, slicesOf } from '../../base/lib/bytes.ts';
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

/** An endpoint, and the form in which it offers the task. */
export interface TaskServer<Asked, Made> {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  readonly upstream: TaskUpstream<Asked, Made>;
}

/** A host of another vendor's protocol may offer a task in another form, or not at all. Throws GatewayError. */
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

/** Path of the task below the endpoint's base URL: of its host, its provider or the protocol. */
export function pathOf<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  { facts: { name } }: TaskParts<Asked, Made>,
): string {
  const own = endpoint.hosting?.tasks?.[name] ?? endpoint.tasks?.[name];
  return operationPath(endpoint, upstream.pathFor(endpoint.model), own);
}

/**
 * Body of a request, and its media type unless it is JSON.
 * @throws GatewayError for a request that cannot be expressed
 */
export function bodyOf<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  asked: Asked,
  report: Report,
): { readonly body: Slices; readonly type?: string } {
  const body = upstream.encodeRequest(asked, endpoint, report);
  if (!(body instanceof Form)) return { body: slicesOf(JSON.stringify(body)) };
  // Members that a host requires in every body can only be added to JSON.
  if (endpoint.hosting) throw unsupported(endpoint, 'does not support forms');
  const boundary = newId('form-');
  return { body: encodeForm(body, boundary), type: `multipart/form-data; boundary=${boundary}` };
}

/** Reads a whole answer. @param type content type @throws GatewayError `upstream_unavailable` for an invalid answer */
export function readWhole<Asked, Made>(
  { endpoint, upstream }: TaskServer<Asked, Made>,
  asked: Asked,
  type: string | null,
  text: string,
): Made {
  if (upstream.text && isOneOf(upstream.text.types, type)) return upstream.text.decode(text, asked, endpoint);
  return upstream.decodeResponse(parseJson(text), asked, endpoint);
}

/** Receives an answer in pieces, or as a whole. */
export interface MadeSink<Made> {
  whole(made: Made, events: EventSink): void;
  readonly pieces: (events: EventSink) => PieceSink<Made>;
}

/** The endpoint's protocol with the same errors and limits, but answers of this task. */
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
      throw new GatewayError('upstream_unavailable', `${endpoint.slug} returned a stream instead of ${task}`);
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
