// The weather tool as client libraries define it, and the checks that each LangChain model passes.
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { tool } from 'ai';
import { expect, test } from 'bun:test';
import { z } from 'zod';

const city = z.object({ city: z.string() });

export const aiSdkWeather = tool({
  description: 'Weather of a city',
  inputSchema: city,
  execute: (asked) => Promise.resolve(`fog in ${asked.city}`),
});

export const langchainWeather = langchainTool((asked: { city: string }) => `fog in ${asked.city}`, {
  name: 'get_weather',
  description: 'Weather of a city',
  schema: city,
});

export const person = z.object({ name: z.string(), age: z.number().int() });
export const DESCRIBE_PERSON = 'Describe "Ada", 36 years old.';

/** Two calls, for the simulated models. */
export const TWO_CALLS =
  'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}';

/** Asks a LangChain model, and runs the weather tool until the model answers with text. */
export class LangChainConversation {
  readonly #history: BaseMessage[] = [];
  readonly #model: ReturnType<NonNullable<BaseChatModel['bindTools']>>;

  constructor(model: BaseChatModel) {
    if (!model.bindTools) throw new TypeError('the model has no tools');
    this.#model = model.bindTools([langchainWeather]);
  }

  /** @returns text of the answer, and the number of calls before it */
  async ask(question: string): Promise<{ readonly text: string; readonly calls: number }> {
    this.#history.push(new HumanMessage(question));
    for (let calls = 0; ;) {
      const answer = await this.#model.invoke(this.#history);
      this.#history.push(answer);
      const asked = answer.tool_calls ?? [];
      if (asked.length === 0) return { text: answer.text, calls };
      calls += asked.length;
      for (const call of asked)
        this.#history.push((await langchainWeather.invoke({ ...call, type: 'tool_call' })) as BaseMessage);
    }
  }
}

/** Tests that a LangChain model streams and calls tools over two turns. */
export function testLangChain(model: () => BaseChatModel): void {
  test('streams', async () => {
    let text = '';
    for await (const chunk of await model().stream('count to 12')) text += chunk.text;
    expect(text).toContain('12');
  });

  test('calls tools over two turns', async () => {
    const { text, calls } = await new LangChainConversation(model()).ask('What is the weather in "Lima"?');
    expect(text).toContain('fog in');
    expect(calls).toBe(1);
  });
}
