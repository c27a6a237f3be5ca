// Models for tasks other than text, as listed in the catalog.
import type { SimulatedTask } from '../src/canonical/index.ts';
import type { SimModel } from './models.ts';

export interface SimTaskModel extends SimModel {
  readonly outputModalities: readonly string[];
}

/** Models for these tasks, all in OpenAI's wire format. */
export function taskModels(tasks: readonly SimulatedTask[]): readonly SimTaskModel[] {
  return tasks.flatMap(({ models }) =>
    models.map(({ name, description, makes, contextLength, inputPrice: input }) => ({
      name,
      description,
      protocol: 'openai-chat',
      outputModalities: [makes],
      reasoningStyle: 'none',
      reasoningMandatory: false,
      efforts: null,
      reasoningFormat: null,
      faithful: true,
      quirks: {},
      contextLength,
      maxOutputTokens: 1,
      price: { input, output: 0, cacheRead: input, cacheWrite5m: input, cacheWrite1h: input },
    })),
  );
}
