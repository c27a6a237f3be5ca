// Parts of a task that is made of codecs: a few pure functions, and a codec for each form in which protocols have it. Knows no
// task by name.
import type { TaskFacts, Usage } from '../../canonical/index.ts';
import type { DecodedTask, TaskCodec } from '../../protocols/index.ts';
import type { ApiCall } from '../call.ts';

/** How large a request is. */
export interface Needs {
  /** Characters of the largest piece that has to fit a model's context. */
  readonly chars: number;
  /** Tokens of its input, by estimate. */
  readonly tokens: number;
}

/** Parts that such a task has of its own. */
export interface TaskParts<Asked, Made> {
  readonly facts: TaskFacts;
  /** One for each form in which protocols have it. */
  readonly codecs: readonly TaskCodec<Asked, Made>[];
  /** The smallest request, for whoever examines an endpoint. */
  readonly sample: Asked;
  needs(asked: Asked): Needs;
  /** Parts of so many inputs; the request itself where it is small enough. */
  split(asked: Asked, mostInputs: number): readonly Asked[];
  /**
   * The answer of an upstream, or a piece of one that is streamed, in the form that was asked for. Throws GatewayError for one that
   * cannot have it.
   */
  read(made: Made, asked: Asked): Made;
  /** Usage as the upstream counted it; null: it did not. */
  charge(made: Made): Usage | null;
  /** Usage by estimate. */
  estimate(asked: Asked): Usage;
  /** Characters that a model wrote. Absent: it writes none. */
  chars?(made: Made): number;
  /** One answer of those to all parts, or of the pieces of a stream, in their order. */
  join(made: readonly Made[]): Made;
}

/**
 * Decodes a client's request. Throws GatewayError naming every offending field.
 * @param files undefined where the request is only to be explained: a form is then known by its other fields
 */
export function decodeTask<Asked, Made>(
  { facts, codecs }: TaskParts<Asked, Made>,
  { protocol, json, route }: Pick<ApiCall, 'protocol' | 'json' | 'route'>,
  files: ApiCall['files'],
): DecodedTask<Asked, Made> {
  const client = codecs.find((codec) => codec.client?.protocol === protocol.name)?.client;
  if (!client) throw new TypeError(`clients of ${protocol.name} have no ${facts.name}`);
  const decoded = client.decodeRequest(json, route, files);
  return { ...decoded, request: { ...decoded.request, task: facts, stream: decoded.stream !== undefined } };
}

/** Needs of all of a request. Each input stands for itself: the largest decides which context it needs. */
export function needsOf<Asked, Made>(task: TaskParts<Asked, Made>, asked: readonly Asked[]): Needs {
  const all = asked.map((one) => task.needs(one));
  return {
    chars: all.reduce((most, { chars }) => Math.max(most, chars), 0),
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
