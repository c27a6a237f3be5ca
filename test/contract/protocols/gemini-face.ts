// Gemini as its clients and its servers write it. Knows no gateway.
import { frame } from '../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  COUNTS,
  eventsOf,
  halves,
  Notes,
  noteSampling,
  untitled,
  noteSearch,
  noteSearching,
  noteToken,
  noteTool,
  toolText,
  type Answer,
  type Choice,
  type Face,
  type Finish,
  type Token,
  type Turn,
} from './exchange.ts';
import { CITY } from '../../support/city-schema.ts';

const WORDS: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  filter: 'SAFETY',
  refusal: 'STOP',
  sequence: 'STOP',
  pause: 'STOP',
};
const FINISHES: Readonly<Record<string, Finish>> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'filter' };

function content(turn: Turn): object | Json {
  if ('own' in turn) return turn.own[0] ?? null;
  if ('results' in turn) {
    const parts = turn.results.map(({ id, name, text, image, failed }) => ({
      functionResponse: {
        id,
        name,
        response: failed ? { error: text } : { output: text },
        ...(image === undefined ? {} : { parts: [{ inlineData: { mimeType: 'image/png', data: image } }] }),
      },
    }));
    return { role: 'user', parts: turn.beside === undefined ? parts : [...parts, { text: turn.beside }] };
  }
  // Gemini has instructions for the whole conversation only.
  if ('instruct' in turn) return null;
  if ('assistant' in turn) {
    const text = turn.assistant ? [{ text: turn.assistant }] : [];
    const calls = (turn.calls ?? []).map(({ id, name, args }) => ({ functionCall: { id, name, args } }));
    return { role: 'model', parts: [...text, ...calls] };
  }
  const parts: object[] = [{ text: turn.user }];
  if (turn.image !== undefined) parts.push({ inlineData: { mimeType: 'image/png', data: turn.image } });
  if (turn.pdf !== undefined) parts.push({ inlineData: { mimeType: 'application/pdf', data: turn.pdf } });
  if (turn.audio !== undefined) parts.push({ inlineData: { mimeType: 'audio/wav', data: turn.audio } });
  if (turn.imageUrl !== undefined)
    parts.push({ fileData: { mimeType: 'image/png', fileUri: turn.imageUrl } });
  if (turn.pdfUrl !== undefined)
    parts.push({ fileData: { mimeType: 'application/pdf', fileUri: turn.pdfUrl } });
  return { role: 'user', parts };
}

/** Kinds of media by their types. */
const KINDS: Readonly<Record<string, string>> = {
  'image/png': 'image',
  'application/pdf': 'pdf',
  'audio/wav': 'audio',
};

function notePart(notes: Notes, role: string, part: Json): void {
  notes.note('state', at(part, 'thoughtSignature'));
  if (at(part, 'thought') !== true) notes.note(role, at(part, 'text'));
  const media = at(part, 'inlineData') ?? at(part, 'fileData');
  notes.media(KINDS[String(at(media, 'mimeType'))] ?? 'media', at(media, 'data') ?? at(media, 'fileUri'));
  const call = at(part, 'functionCall');
  if (call) notes.call(at(call, 'id'), at(call, 'name'), at(call, 'args'));
  const result = at(part, 'functionResponse');
  if (!result) return;
  const error = at(result, 'response', 'error');
  const text = error ?? at(result, 'response', 'output') ?? '';
  notes.result(at(result, 'id'), String(text), error !== undefined, at(result, 'name'));
  for (const inner of list(result, 'parts')) notes.note('image in result', at(inner, 'inlineData', 'data'));
}

function partsOf(answer: Answer): Readonly<Record<string, unknown>>[] {
  const { thoughts = [], text, refusal, calls = [], withoutIds } = answer;
  const state = thoughts.find((thought) => thought.state !== undefined)?.state;
  const signed = state === undefined ? {} : { thoughtSignature: state };
  const visible = thoughts.filter((thought) => thought.text !== '');
  const words = text ?? refusal;
  return [
    ...visible.map((thought) => ({ text: thought.text, thought: true })),
    ...(words === undefined ? [] : [{ text: words, ...(calls.length === 0 ? signed : {}) }]),
    // The first call of a step is the one that is signed.
    ...calls.map(({ id, name, args }, index) => ({
      functionCall: { ...(withoutIds ? {} : { id }), name, args },
      ...(index === 0 ? signed : {}),
    })),
  ];
}

const utf8 = (text: string): number => Buffer.byteLength(text);

const probable = ({ token, logprob }: Token): object => ({ token, logProbability: logprob });

function groundingOf({ cited, searched, text = '' }: Answer): object {
  const pages = searched?.pages ?? (cited ? [cited] : []);
  const support = cited && {
    segment: { startIndex: utf8(text) - utf8(cited.words), endIndex: utf8(text), text: cited.words },
    groundingChunkIndices: [pages.findIndex(({ url }) => url === cited.url)],
  };
  return {
    ...(searched ? { webSearchQueries: [searched.query] } : {}),
    groundingChunks: pages.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: support ? [support] : [],
  };
}

function candidateOf(answer: Answer): object {
  const { finish, cited, searched, tokens } = answer;
  const grounding = (cited ?? searched) && groundingOf(answer);
  const logprobs = {
    chosenCandidates: tokens?.map(probable),
    topCandidates: tokens?.map(({ top }) => ({ candidates: top.map(probable) })),
  };
  return {
    finishReason: WORDS[finish],
    ...(grounding ? { groundingMetadata: grounding } : {}),
    ...(tokens ? { logprobsResult: logprobs } : {}),
    index: 0,
  };
}

function chunk(parts: readonly object[], candidate: object, more: object = {}): object {
  return {
    candidates: [{ content: { role: 'model', parts }, ...candidate }],
    ...more,
    modelVersion: 'm',
    responseId: 'up-1',
  };
}

function usageOf(answer: Answer): object {
  const { input, cached, output, reasoning } = { ...COUNTS, ...answer.usage };
  return {
    usageMetadata: {
      promptTokenCount: input,
      ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
      candidatesTokenCount: output - reasoning,
      ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
      totalTokenCount: input + output,
    },
  };
}

const declaration = (name: string): object => ({
  name,
  description: toolText(name),
  parametersJsonSchema: CITY,
});

const MODES: Readonly<Record<string, string>> = { none: 'NONE', required: 'ANY' };
/** `VALIDATED` holds calls to the schemas and leaves the model free to answer in words. */
const callingOf = (choice: Choice | undefined): object =>
  typeof choice === 'object'
    ? { mode: 'ANY', allowedFunctionNames: 'name' in choice ? [choice.name] : choice.allowed }
    : { mode: MODES[choice ?? ''] ?? 'VALIDATED' };

function noteChoice(notes: Notes, config: Json | undefined): void {
  const allowed = list(config, 'allowedFunctionNames');
  const named = allowed.length === 1 ? { name: allowed[0] } : { allowed };
  const mode = { NONE: 'none', ANY: 'required' }[String(at(config, 'mode'))];
  notes.note('choice', allowed.length === 0 ? mode : named);
}

export const geminiFace: Face = {
  ask: ({ system, turns, tools, strictTools, schema, stop, limit, logprobs, reasoning, ...wishes }) => ({
    systemInstruction: system && { parts: system.map((text) => ({ text })) },
    contents: turns.map(content),
    tools: [
      ...(tools ? [{ functionDeclarations: tools.map(declaration) }] : []),
      ...(wishes.search ? [{ googleSearch: {} }] : []),
    ],
    toolConfig: (wishes.choice ?? strictTools) && { functionCallingConfig: callingOf(wishes.choice) },
    generationConfig: {
      ...wishes.sampling,
      ...(schema === undefined ? {} : { responseMimeType: 'application/json', responseJsonSchema: schema }),
      stopSequences: stop && [stop],
      maxOutputTokens: limit,
      ...(logprobs === undefined ? {} : { responseLogprobs: true, logprobs }),
      thinkingConfig: reasoning ? { includeThoughts: true, thinkingBudget: 2000 } : { thinkingBudget: 0 },
    },
  }),
  understood(body) {
    const notes = new Notes();
    for (const part of list(body, 'systemInstruction', 'parts')) notes.system(String(at(part, 'text')));
    for (const entry of list(body, 'contents')) {
      const role = at(entry, 'role') === 'model' ? 'assistant' : 'user';
      for (const part of list(entry, 'parts')) notePart(notes, role, part);
    }
    const calling = at(body, 'toolConfig', 'functionCallingConfig');
    for (const tool of list(body, 'tools').flatMap((group) => list(group, 'functionDeclarations')))
      noteTool(
        notes,
        at(tool, 'name'),
        at(tool, 'description'),
        at(tool, 'parametersJsonSchema') ?? at(tool, 'parameters'),
        at(calling, 'mode') === 'VALIDATED',
      );
    for (const group of list(body, 'tools')) noteSearching(notes, at(group, 'googleSearch') ? {} : undefined);
    noteChoice(notes, calling);
    const config = at(body, 'generationConfig');
    noteSampling(notes, {
      temperature: at(config, 'temperature'),
      topP: at(config, 'topP'),
      topK: at(config, 'topK'),
      seed: at(config, 'seed'),
      frequencyPenalty: at(config, 'frequencyPenalty'),
      presencePenalty: at(config, 'presencePenalty'),
    });
    const schema = untitled(at(config, 'responseJsonSchema') ?? at(config, 'responseSchema'));
    notes.note('schema', schema);
    notes.note('schema enforced', schema === undefined ? undefined : true);
    notes.note('stop', list(config, 'stopSequences').join());
    notes.note('limit', at(config, 'maxOutputTokens'));
    notes.note('logprobs', at(config, 'logprobs'));
    const thinking = at(config, 'thinkingConfig');
    // Gemini 3 cannot be kept from thinking at all.
    const isLeast = at(thinking, 'thinkingBudget') === 0 || at(thinking, 'thinkingLevel') === 'MINIMAL';
    notes.note('reasoning', (thinking !== undefined && !isLeast) || undefined);
    return notes.done();
  },
  whole: (answer) => chunk(partsOf(answer), candidateOf(answer), usageOf(answer)),
  stream(answer) {
    const { tokens, ...rest } = answer;
    const end = frame(chunk([{ text: '' }], candidateOf(rest), usageOf(answer)));
    if (tokens) {
      // Every chunk has the probabilities of its own tokens.
      const pieces = tokens.map((token) => {
        const { logprobsResult } = candidateOf({ ...answer, tokens: [token] }) as { logprobsResult?: object };
        return frame(chunk([{ text: token.token }], { logprobsResult, index: 0 }));
      });
      return pieces.join('') + end;
    }
    const pieces = partsOf(answer).flatMap((part) => {
      const { text, thoughtSignature, ...thought } = part;
      if (text === undefined) return [part];
      const texts: Readonly<Record<string, unknown>>[] = halves(String(text)).map((half) => ({
        ...thought,
        text: half,
      }));
      return thoughtSignature === undefined ? texts : [...texts, { text: '', thoughtSignature }];
    });
    return pieces.map((part) => frame(chunk([part], { index: 0 }))).join('') + end;
  },
  gather(text) {
    const chunks = eventsOf(text);
    const last = at(chunks.at(-1), 'candidates', 0) as { readonly [name: string]: Json } | undefined;
    if (last?.['finishReason'] === undefined) throw new Error(`no complete stream: ${text}`);
    const candidates = chunks.map((each) => at(each, 'candidates', 0));
    const parts = candidates.flatMap((candidate) => list(candidate, 'content', 'parts'));
    const [chosenCandidates, topCandidates] = ['chosenCandidates', 'topCandidates'].map((name) =>
      candidates.flatMap((candidate) => list(candidate, 'logprobsResult', name)),
    );
    const candidate = {
      ...last,
      content: { role: 'model', parts },
      logprobsResult: { chosenCandidates, topCandidates },
    } as Json;
    return { candidates: [candidate], usageMetadata: at(chunks.at(-1), 'usageMetadata') ?? null };
  },
  received(body) {
    const notes = new Notes();
    const candidate = at(body, 'candidates', 0);
    const parts = list(candidate, 'content', 'parts');
    for (const part of parts) {
      notes.note(at(part, 'thought') === true ? 'thought' : 'text', at(part, 'text'));
      const call = at(part, 'functionCall');
      if (call) notes.call(at(call, 'id'), at(call, 'name'), at(call, 'args'));
    }
    const chunks = list(candidate, 'groundingMetadata', 'groundingChunks');
    const queries = list(candidate, 'groundingMetadata', 'webSearchQueries');
    for (const query of queries)
      noteSearch(
        notes,
        query,
        chunks.map((page) => at(page, 'web', 'uri')),
      );
    for (const support of list(candidate, 'groundingMetadata', 'groundingSupports'))
      for (const index of list(support, 'groundingChunkIndices')) {
        const web = at(chunks[Number(index)], 'web');
        notes.note('cites', `${at(support, 'segment', 'text')} (${at(web, 'title')}, ${at(web, 'uri')})`);
      }
    const finish = FINISHES[String(at(candidate, 'finishReason'))];
    const calls = parts.some((part) => at(part, 'functionCall') !== undefined);
    notes.note('finish', finish === 'stop' && calls ? 'calls' : finish);
    list(candidate, 'logprobsResult', 'chosenCandidates').forEach((token, index) =>
      noteToken(
        notes,
        token,
        list(candidate, 'logprobsResult', 'topCandidates', index, 'candidates'),
        'logProbability',
      ),
    );
    const usage = at(body, 'usageMetadata');
    const reasoning = Number(at(usage, 'thoughtsTokenCount') ?? 0);
    notes.usage({
      input: at(usage, 'promptTokenCount'),
      cached: at(usage, 'cachedContentTokenCount'),
      written: 0,
      output: Number(at(usage, 'candidatesTokenCount') ?? 0) + reasoning,
      reasoning,
    });
    return notes.done();
  },
  callIds: (body) =>
    list(body, 'candidates', 0, 'content', 'parts').flatMap((part) =>
      at(part, 'functionCall') === undefined ? [] : [String(at(part, 'functionCall', 'id'))],
    ),
  giveBack(body, forgets) {
    const parts = list(body, 'candidates', 0, 'content', 'parts');
    const kept = parts
      .filter((part) => at(part, 'thought') !== true)
      .map((part) => {
        const { thoughtSignature: _signature, ...rest } = part as { readonly [name: string]: Json };
        return rest;
      });
    return [{ role: 'model', parts: forgets ? kept : parts }];
  },
};
