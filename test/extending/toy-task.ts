// A task of a few lines, as somebody would add it: `{model, words}` is answered with `{rhymes, model, usage}`. Stands in for a
// folder of `src/engine/tasks/`, with the form that OpenAI-like servers and their clients have of it, its description and its
// simulation.
import { z } from 'zod';
import { asArray, asNumber, asObject, asString } from '../../src/base/json/index.ts';
import { GatewayError, NO_USAGE, Report, type Usage } from '../../src/canonical/index.ts';
import { codecTask } from '../../src/engine/tasks/codec-task.ts';
import { mainProtocol, type TaskCodec, taskRequest } from '../../src/protocols/index.ts';

interface Asked {
  readonly words: readonly string[];
}

interface Made {
  readonly rhymes: readonly string[];
  /** Null: the upstream did not count. */
  readonly tokens: number | null;
}

const inForm: TaskCodec<Asked, Made> = {
  protocols: [mainProtocol.name],
  upstream: {
    pathFor: () => '/rhymes',
    encodeRequest: ({ words }, { model }) => ({ model, words }),
    decodeResponse(body) {
      const { rhymes, tokens } = asObject(body);
      return { rhymes: textsOf(rhymes), tokens: asNumber(tokens) ?? null };
    },
  },
  client: {
    protocol: mainProtocol.name,
    routes: [
      {
        path: '/rhymes',
        operation: { api: 'rhymes', does: 'rhymes' },
        describes: () => ({
          id: 'createRhymes',
          tag: 'Rhymes',
          summary: 'Finds rhymes of words.',
          body: z.looseObject({ model: z.string().min(1), words: z.array(z.string()).min(1) }),
          bodyExample: { model: 'sim/rhyme', words: ['moon'] },
          answer: z.looseObject({ rhymes: z.array(z.string()) }),
        }),
      },
    ],
    decodeRequest(body) {
      const raw = asObject(body);
      const model = asString(raw['model']) ?? '';
      const words = textsOf(raw['words']);
      if (words.length === 0)
        throw new GatewayError('invalid_request', 'words: must not be empty', { param: 'words' });
      const said = { protocol: mainProtocol.name, raw, model, gateway: {}, report: new Report() };
      return {
        request: taskRequest(said),
        asked: [{ words }],
        encode: ({ made, model: by }) => ({ rhymes: made.rhymes, model: by }),
      };
    },
  },
};

export const rhymes = codecTask<Asked, Made>(
  {
    facts: { name: 'rhymes', makes: 'rhymes', misfit: 'knows no rhymes', mostOutputTokens: 0 },
    codecs: [inForm],
    sample: { words: ['hello'] },
    needs: ({ words }) => ({ chars: words.join(' ').length, tokens: words.length }),
    split: (asked) => [asked],
    read: (made) => made,
    charge: ({ tokens }) => (tokens === null ? null : counted(tokens)),
    estimate: ({ words }) => ({ ...counted(words.length), estimated: true }),
    join: (made) => ({ rhymes: made.flatMap((each) => each.rhymes), tokens: null }),
  },
  {
    models: {
      id: 'listRhymeModels',
      path: '/rhymes/models',
      tag: 'Rhymes',
      summary: 'The models that know rhymes.',
    },
    simulated: {
      path: '/rhymes',
      models: [
        {
          name: 'rhyme',
          description: 'Puts an r in front.',
          makes: 'rhymes',
          contextLength: 1000,
          inputPrice: 1,
        },
      ],
      answer(body, model, services) {
        if (model === 'rhyme')
          return { rhymes: textsOf(body['words']).map((word) => `r${word}`), tokens: 1000 };
        services.refuse(`The model '${model}' knows no rhymes.`, 'model', 'model_not_found', 404);
        return null;
      },
    },
  },
);

function textsOf(value: unknown): readonly string[] {
  return asArray(value as never).flatMap((each) => asString(each) ?? []);
}

function counted(uncached: number): Usage {
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached } };
}
