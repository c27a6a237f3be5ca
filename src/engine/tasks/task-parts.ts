// Parts of a codec task: a few pure functions, and a codec for each form in which protocols offer it.
import type { TaskFacts, Usage } from '../../canonical/index.ts';
import type { DecodedTask, TaskCodec } from '../../protocols/index.ts';
import type { ApiCall } from '../call.ts';

/** Size of a request. */
export interface Needs {
  /** Characters of the largest input, which must fit the model's context. */
  readonly chars: number;
  /** Estimated tokens of its input. */
  readonly tokens: number;
}

/** The parts that define such a task. */
export interface TaskParts<Asked, Made> {
  readonly facts: TaskFacts;
  /** One for each form in which protocols offer it. */
  readonly codecs: readonly TaskCodec<Asked, Made>[];
  /** The smallest request, for probes. */
  readonly sample: Asked;
  needs(asked: Asked): Needs;
  /** Splits a request into parts of at most `mostInputs` inputs. */
  split(asked: Asked, mostInputs: number): readonly Asked[];
  /**
   * Converts an upstream's answer, or a piece of a stream, to the requested form. Throws GatewayError when that is
   * impossible.
   */
  read(made: Made, asked: Asked): Made;
  /** Usage reported by the upstream. Null: none. */
  charge(made: Made): Usage | null;
  /** Estimated usage. */
  estimate(asked: Asked): Usage;
  /** Characters that a model wrote. Absent: it writes none. */
  chars?(made: Made): number;
  /** Joins the answers to all parts, or the pieces of a stream, in order. */
  join(made: readonly Made[]): Made;
}

/**
 * Decodes a client's request. Throws GatewayError naming every offending field.
 * @param files undefined: the request is only explained, from the other fields of its form
 */
export function decodeTask<Asked, Made>(
  { facts, codecs }: TaskParts<Asked, Made>,
  { protocol, json, route }: Pick<ApiCall, 'protocol' | 'json' | 'route'>,
  files: ApiCall['files'],
): DecodedTask<Asked, Made> {
  const client = codecs.find((codec) => codec.client?.protocol === protocol.name)?.client;
  if (!client) throw new TypeError(`${protocol.name} has no ${facts.name}`);
  const decoded = client.decodeRequest(json, route, files);
  return { ...decoded, request: { ...decoded.request, task: facts, stream: decoded.stream !== undefined } };
}

/** Size of all parts. Inputs are independent, so the largest determines the required context. */
export function needsOf<Asked, Made>(task: TaskParts<Asked, Made>, asked: readonly Asked[]): Needs {
  const all = asked.map((one) => task.needs(one));
  return {
    chars: all.reduce((most, { chars }) => Math.max(most, chars), 0),
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
