// Answer store on Valkey or Redis. One script call publishes and reads all answers of a process.
import {
  type AnswerClaim,
  type ClaimResult,
  type AnswerStore,
  type AnswerRead,
  type Exchanged,
  FAILED_MS,
  type AnswerReceipt,
  READER_MS,
  LEASE_MS,
  MOST_FRAMES,
  type AnswerUpdate,
  type AnswerFrames,
} from '../exchange/index.ts';
import type { ServerLink } from './server.ts';
import { runShared } from './shared.ts';

const TERMS = [FAILED_MS, READER_MS, MOST_FRAMES].map(String);

export class ValkeyAnswerStore implements AnswerStore {
  readonly #server: Pick<ServerLink, 'run'>;

  constructor(server: Pick<ServerLink, 'run'>) {
    this.#server = server;
  }

  async claim({ name, fingerprint, run }: AnswerClaim): Promise<ClaimResult> {
    const [type, theirs] = textsOf(await this.#run('begin', [name, fingerprint, run]));
    if (type === 'theirs') return { type, run: theirs ?? '' };
    if (type === 'mine' || type === 'conflict' || type === 'large') return { type };
    throw unexpected();
  }

  async exchange(updates: readonly AnswerUpdate[], reads: readonly AnswerRead[]): Promise<Exchanged> {
    const args = [
      ...TERMS,
      String(updates.length),
      ...updates.flatMap(updateArguments),
      String(reads.length),
    ];
    for (const { name, run, edition, from } of reads) args.push(name, run, String(edition), String(from));
    const answer = await this.#run('exchange', args);
    if (!Array.isArray(answer) || !Array.isArray(answer[1])) throw unexpected();
    return { receipts: textsOf(answer[0]) as readonly AnswerReceipt[], answers: answer[1].map(framesOf) };
  }

  #run(operation: string, args: readonly string[]): Promise<unknown> {
    return runShared(this.#server, operation, LEASE_MS, args);
  }
}

function updateArguments(update: AnswerUpdate): readonly string[] {
  const { name, fingerprint, run, edition, at, state, keepsMs, mostChars, frames } = update;
  const numbers = [Math.ceil(keepsMs), Math.ceil(mostChars), frames.length].map(String);
  return [name, fingerprint, run, String(edition), String(at), state, ...numbers, ...frames];
}

function framesOf(reply: unknown): AnswerFrames {
  const [state, edition, count, ...frames] = textsOf(reply);
  return { state: state as AnswerFrames['state'], edition: Number(edition), count: Number(count), frames };
}

function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply)) throw unexpected();
  return reply.map(String);
}

function unexpected(): Error {
  return new Error('unexpected response of the server');
}
