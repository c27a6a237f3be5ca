// Slows those who go on asking for what their limits have no room for: refusals of one project beyond a rate are sent one
// after another, so that others have their turns in between, and clients that wait for an answer before they ask again ask
// less often. Knows no limit.
import type { Clock } from '../runtime/clock.ts';
import type { Counters } from '../telemetry/counters.ts';
import { HeldAnswers } from './held-answers.ts';

/** Refusals of one project that are sent at once, and how far apart those behind them are: 250 in a second. */
const FREE = 200;
const APART_MS = 4;
/** Longest time that one is held back, in milliseconds. */
const LONGEST_MS = 2_000;
/** Projects that are remembered; beyond, all are forgotten, and have a burst again. */
const MOST_PROJECTS = 10_000;

export interface RefusedProjectsOptions {
  readonly clock: Clock;
  readonly counters: Counters;
}

export class RefusedProjects {
  readonly #options: RefusedProjectsOptions;
  readonly #held: HeldAnswers;
  /** Unix milliseconds at which the next refusal of a project is due, if none were sent early. */
  readonly #due = new Map<string, number>();

  constructor(options: RefusedProjectsOptions) {
    this.#options = options;
    this.#held = new HeldAnswers(options.clock);
  }

  /** The answer, when it may be sent: a refusal for which nobody was asked is counted, and may be held back. */
  look(answer: Response, projectId: string): Response | Promise<Response> {
    const { status } = answer;
    if (status !== 429 && status !== 402) return answer;
    // The runtime makes an object of the headers when they are asked for: not for every answer.
    if (answer.headers.get('x-dragoman-attempts') !== '0') return answer;
    const delayMs = this.#delayMs(projectId);
    if (delayMs <= 0 || this.#held.isFull) return answer;
    this.#options.counters.add('slowed_refusals');
    return this.#held.hold(answer, delayMs);
  }

  #delayMs(projectId: string): number {
    const now = this.#options.clock.now();
    const due = Math.max(this.#due.get(projectId) ?? 0, now - FREE * APART_MS) + APART_MS;
    const delayMs = Math.min(due - now, LONGEST_MS);
    if (this.#due.size >= MOST_PROJECTS && !this.#due.has(projectId)) this.#due.clear();
    this.#due.set(projectId, now + delayMs);
    return delayMs;
  }
}
