// A task as the simulated provider does it: plain data and one function, so that a task brings its own. It shares no code with
// the gateway's codecs: a mistake made twice alike is seen by nobody.
import type { JsonObject } from '../base/json/index.ts';

/** A model of the simulated provider that does it. */
export interface SimulatedTaskModel {
  readonly name: string;
  readonly description: string;
  /** Its output modality. */
  readonly makes: string;
  /** Tokens of one input. */
  readonly contextLength: number;
  /** USD per million tokens of input. */
  readonly inputPrice: number;
}

/** Facilities of the simulated provider. */
export interface SimulatedDesk {
  /** Refuses the request; the first complaint is the answer. @param status default 400 */
  complain(message: string, param: string, code?: string, status?: number): void;
  /** Tokens of a text, as the simulated models count. */
  tokensOf(text: string): number;
  /** Bytes of a file of the form that the body is; undefined where it has none of that name. */
  fileNamed(name: string): Uint8Array | undefined;
}

/** An answer that is no JSON: text of some media type, sent piece by piece. */
export class SimulatedText {
  readonly type: string;
  readonly pieces: readonly string[];

  constructor(type: string, pieces: readonly string[]) {
    this.type = type;
    this.pieces = pieces;
  }
}

export interface SimulatedTask {
  /** Path below the simulated OpenAI-like server's base URL. */
  readonly path: string;
  readonly models: readonly SimulatedTaskModel[];
  /**
   * @param body JSON, or the fields of a form but for its files
   * @param model without its provider
   * @returns null where there are complaints
   */
  answer(body: JsonObject, model: string, desk: SimulatedDesk): JsonObject | SimulatedText | null;
}
