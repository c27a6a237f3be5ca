// Simulation of a task, as data and one function that the task's folder provides. It shares no code with the gateway's
// codecs, because a shared mistake would stay unnoticed.
import type { JsonObject } from '../base/json/index.ts';

/** A simulated model for the task. */
export interface SimulatedTaskModel {
  readonly name: string;
  readonly description: string;
  /** Its output modality. */
  readonly makes: string;
  /** Maximum tokens of one input. */
  readonly contextLength: number;
  /** USD per million tokens of input. */
  readonly inputPrice: number;
}

/** Functions of the simulated provider for tasks. */
export interface SimulatedServices {
  /** Refuses the request. The first call determines the response. @param status default 400 */
  refuse(message: string, param: string, code?: string, status?: number): void;
  /** Counts the tokens of a text as the simulated models do. */
  tokensOf(text: string): number;
  /** Bytes of a file of a form; undefined if there is none with that name. */
  fileNamed(name: string): Uint8Array | undefined;
}

/** A response that is not JSON: text of any media type, sent in pieces. */
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
   * @param body JSON, or the fields of a form without its files
   * @param model model name without its provider
   * @returns null after a call of `refuse`
   */
  answer(body: JsonObject, model: string, services: SimulatedServices): JsonObject | SimulatedText | null;
}
