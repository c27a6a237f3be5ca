// A task of a few lines whose request is a form with a file, and whose answer is JSON, text or a stream, as the client wants it:
// what is said in a recording. Stands in for a folder of `src/engine/tasks/`, with the form that OpenAI-like servers and their
// clients have of it, its description and its simulation.
import { z } from 'zod';
import { asNumber, asObject, asString, parseJson } from '../../src/base/json/index.ts';
import { Form, type FormFile } from '../../src/base/lib/form.ts';
import { GatewayError, NO_USAGE, Report, SimulatedText, type Usage } from '../../src/canonical/index.ts';
import { codecTask } from '../../src/engine/tasks/codec-task.ts';
import {
  mainProtocol,
  type TaskAnswer,
  type TaskCodec,
  taskRequest,
  TextBody,
} from '../../src/protocols/index.ts';

type Shape = 'json' | 'text';

interface Asked {
  readonly file: FormFile | undefined;
  readonly shape: Shape;
  readonly isStreamed: boolean;
}

/** A whole answer, or a piece of one. */
interface Made {
  readonly text: string;
  /** Null: the upstream did not count, or has not yet. */
  readonly tokens: number | null;
}

const PLAIN = 'text/plain';
const NOT_ALL = 'the upstream broke its answer off';

const inForm: TaskCodec<Asked, Made> = {
  protocols: [mainProtocol.name],
  upstream: {
    pathFor: () => '/captions',
    encodeRequest({ file, shape, isStreamed }, { model }) {
      const fields: [string, string][] = [
        ['model', model],
        ['response_format', shape],
        ...(isStreamed ? [['stream', 'true'] as [string, string]] : []),
      ];
      return new Form(fields, file ? [file] : []);
    },
    decodeResponse(body) {
      const { text, tokens } = asObject(body);
      return { text: asString(text) ?? '', tokens: asNumber(tokens) ?? null };
    },
    text: { types: [PLAIN], decode: (text) => ({ text, tokens: null }) },
    decodeStream(sink) {
      return {
        frame(_, data) {
          const { delta, tokens } = asObject(parseJson(data));
          sink.piece({ text: asString(delta) ?? '', tokens: asNumber(tokens) ?? null });
          if (tokens !== undefined) sink.finish();
        },
        end: () => sink.error(new GatewayError('upstream_unavailable', NOT_ALL)),
      };
    },
  },
  client: {
    protocol: mainProtocol.name,
    routes: [
      {
        path: '/captions',
        operation: { api: 'captions', does: 'captions', takes: 'form' },
        describes: () => ({
          id: 'createCaptions',
          tag: 'Captions',
          summary: 'Writes down what is said in a recording.',
          bodyMedia: 'multipart/form-data',
          body: z.object({
            model: z.string().min(1),
            file: z.string().meta({ contentMediaType: 'application/octet-stream' }),
            response_format: z.enum(['json', 'text']).optional(),
            stream: z.string().optional().describe('`true`: as events.'),
          }),
          bodyExample: { model: 'sim/caption', file: 'some words' },
          answer: z.looseObject({ text: z.string() }),
          alsoAs: { [PLAIN]: z.string(), 'text/event-stream': z.string() },
        }),
      },
    ],
    decodeRequest(body, _, files) {
      const raw = asObject(body);
      const model = asString(raw['model']) ?? '';
      const shape = asString(raw['response_format']) ?? 'json';
      const isStreamed = raw['stream'] === 'true';
      const file = files?.find(({ name }) => name === 'file');
      if (files && !file) throw wrong('file', 'is required');
      if (shape !== 'json' && shape !== 'text') throw wrong('response_format', 'must be `json` or `text`');
      return {
        request: taskRequest({
          protocol: mainProtocol.name,
          raw,
          model,
          gateway: {},
          report: new Report(),
        }),
        asked: [{ file, shape, isStreamed }],
        encode: ({ made, model: by }) =>
          shape === 'text'
            ? new TextBody(`${PLAIN}; charset=utf-8`, made.text)
            : { text: made.text, model: by },
        ...(isStreamed && { stream: events }),
      };
    },
  },
};

function events(write: (frames: string) => void) {
  const event = (data: object): void => write(`data: ${JSON.stringify(data)}\n\n`);
  return {
    piece: ({ text }: Made) => event({ delta: text }),
    finish: ({ made, model }: TaskAnswer<Made>) => event({ done: true, text: made.text, model }),
    error: ({ kind, message }: GatewayError) => event({ error: { kind, message } }),
  };
}

export const captions = codecTask<Asked, Made>(
  {
    facts: { name: 'captions', makes: 'captions', misfit: 'hears nothing' },
    codecs: [inForm],
    sample: {
      file: {
        name: 'file',
        filename: 'hello.txt',
        mediaType: 'application/octet-stream',
        bytes: Buffer.from('hello'),
      },
      shape: 'json',
      isStreamed: false,
    },
    needs: (asked) => ({ chars: 0, tokens: tokensIn(asked) }),
    split: (asked) => [asked],
    read: (made) => made,
    charge: ({ tokens }) => (tokens === null ? null : counted(tokens)),
    estimate: (asked) => ({ ...counted(tokensIn(asked)), estimated: true }),
    chars: ({ text }) => text.length,
    join: (made) => ({
      text: made.map(({ text }) => text).join(''),
      tokens: made.reduce<number | null>((sum, { tokens }) => tokens ?? sum, null),
    }),
  },
  {
    simulated: {
      path: '/captions',
      models: [
        {
          name: 'caption',
          description: 'Reads the bytes aloud.',
          makes: 'captions',
          contextLength: 1000,
          inputPrice: 1,
        },
      ],
      answer(body, model, services) {
        const bytes = services.fileNamed('file');
        if (model !== 'caption') services.refuse(`The model '${model}' hears nothing.`, 'model');
        if (!bytes) services.refuse('There is no file.', 'file');
        if (model !== 'caption' || !bytes) return null;
        const text = Buffer.from(bytes).toString();
        if (body['stream'] === 'true') {
          const deltas = text.split(/(?<= )/).map((delta) => ({ delta }));
          const frames = [...deltas, { delta: '', tokens: 1000 }].map(
            (data) => `data: ${JSON.stringify(data)}\n\n`,
          );
          return new SimulatedText('text/event-stream', frames);
        }
        return body['response_format'] === 'text' ? new SimulatedText(PLAIN, [text]) : { text, tokens: 1000 };
      },
    },
  },
);

function tokensIn({ file }: Asked): number {
  return Math.ceil((file?.bytes.length ?? 0) / 4);
}

function counted(uncached: number): Usage {
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached } };
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
