// OpenAI's description of its API as a judge of single objects, and that of Open Responses. Owns the exact list of what
// may deviate from them. Uses none of the product's code.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import Ajv from 'ajv';
import type { ValidateFunction } from 'ajv';
import { openaiSchemaFile, openResponsesSchemaFile } from './corpus.ts';
import { at, list, word, type Loose } from './loose.ts';

/** A document of schemas, read and compiled when the first object is judged. */
class Judge {
  readonly #file: string;
  readonly #read: (text: string) => object;
  readonly #compiled = new Map<string, ValidateFunction | undefined>();
  #ajv: Ajv | undefined;

  constructor(file: string, read: (text: string) => object) {
    this.#file = file;
    this.#read = read;
  }

  /** Mistakes of an object, one sentence each; undefined where the document does not describe it. */
  problems(name: string, value: Loose): string[] | undefined {
    if (!this.#compiled.has(name)) {
      // The documents are given: neither judging them nor fast code for each shape is worth the time.
      this.#ajv ??= new Ajv({
        strict: false,
        validateFormats: false,
        validateSchema: false,
        code: { optimize: false },
        inlineRefs: false,
      }).addSchema(this.#read(gunzipSync(readFileSync(this.#file)).toString()), 'document');
      this.#compiled.set(name, this.#ajv.getSchema(`document#/components/schemas/${name}`));
    }
    const validate = this.#compiled.get(name);
    if (!validate) return undefined;
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${name}${error.instancePath} ${error.message ?? ''}`);
  }
}

/**
 * The document writes `nullable` (OpenAPI 3.0), also beside references and enums; JSON Schema has no such word. And it
 * forgets that a fingerprint may be null, which it is in 107 of 204 recorded answers of OpenAI.
 */
const openai = new Judge(
  openaiSchemaFile,
  (text) =>
    JSON.parse(text, (name, node: unknown) => {
      if (name === 'system_fingerprint') return { type: ['string', 'null'] };
      if (typeof node !== 'object' || node === null || !('nullable' in node)) return node;
      const { nullable, ...rest } = node;
      return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
    }) as object,
);

const openResponses = new Judge(openResponsesSchemaFile, (text) => JSON.parse(text) as object);

/** True where the documents lie beside the repository. */
const hasDocuments = existsSync(openaiSchemaFile) && existsSync(openResponsesSchemaFile);

/**
 * Mistakes of an object, in OpenAI's eyes.
 * @param name one of the document's `components.schemas`
 * @returns one sentence per mistake; empty when it fits
 */
export function fits(name: string, value: Loose): string[] {
  const problems = openai.problems(name, value);
  if (!problems) throw new Error(`${openaiSchemaFile} describes no ${name}`);
  return problems;
}

/** How often each form was judged by a file of tests: a response's status, or an event's type and that of its item or part. */
const judged = new Map<string, number>();
/** Most objects of each form that are judged: judging takes a thousand times longer than writing. */
const ENOUGH = 100;

function isEnough(form: string): boolean {
  const seen = judged.get(form) ?? 0;
  judged.set(form, seen + 1);
  return seen >= ENOUGH;
}

/**
 * Mistakes of a whole response object, in the eyes of OpenAI and of Open Responses. Without the documents
 * nothing is.
 */
export function responseProblems(response: Loose): string[] {
  if (!hasDocuments || isEnough(`response ${word(response['status'])}`)) return [];
  return [...fits('Response', forOpenai(response)), ...openly('ResponseResource', forOpenly(response))];
}

/**
 * Mistakes of an event that the gateway writes itself. Items and events of hosted tools pass in the upstream's
 * own form.
 */
export function eventProblems(event: Loose): string[] {
  if (!hasDocuments) return [];
  const type = word(event['type']);
  const form = [type, at(event, 'item', 'type'), at(event, 'part', 'type')].join(' ');
  const { response } = event;
  if (!OWN_FORMS.test(form)) return [];
  if (response) return responseProblems(response);
  if (isEnough(form)) return [];
  // OpenAI's document demands the name of the function here; its service does not send it.
  const named = type === 'response.function_call_arguments.done' ? { name: AUTO, ...event } : event;
  const isKnown = fits('ResponseStreamEvent', named).length === 0;
  return [...(isKnown ? [] : [`no event of OpenAI: ${form}`]), ...openEventProblems(event)];
}

const OWN_FORMS =
  /^(error|response\.(created|in_progress|completed|incomplete|failed|content_part|output_text|refusal|function_call_|custom_tool_|reasoning_|output_item\.\w+ (message|reasoning|function_call|custom_tool_call|compaction) ))/;

const AUTO = 'auto' as unknown as Loose;

/** Items that others than OpenAI have, or nobody has yet: they pass as they are. */
const FOREIGN_ITEMS = /^(x_search_call|holodeck_call|telegram|new|x)$/;

/** OpenAI's document knows neither the null nor the choice; OpenAI itself sends them, and so does the gateway. */
function forOpenai(response: Loose): Loose {
  const { user: _, usage, output, tool_choice, ...others } = response;
  return {
    ...others,
    tool_choice: word(at(tool_choice, 'type')) === 'web_search' ? AUTO : tool_choice,
    ...((usage as unknown) === null ? {} : { usage }),
    output: list(output).filter((item) => !FOREIGN_ITEMS.test(word(item['type']))) as unknown as Loose,
  };
}

const OPEN_ITEMS: ReadonlySet<string> = new Set(['message', 'function_call', 'reasoning', 'compaction']);

/** Open Responses knows functions only: other items, tools and choices are OpenAI's, which judges them. */
function forOpenly(response: Loose): Loose {
  const choice = at(response, 'tool_choice');
  const among = list(at(choice, 'tools')).concat(choice ?? []);
  const isOwn = among.every((one) => /^(|function|allowed_tools)$/.test(word(at(one, 'type'))));
  return {
    ...response,
    output: list(response['output']).filter(isOpen) as unknown as Loose,
    tools: list(response['tools']).filter((tool) => word(tool['type']) === 'function') as unknown as Loose,
    tool_choice: isOwn ? choice : AUTO,
  };
}

/** OpenAI's other citations are not known either. */
function isOpen(item: Loose): boolean {
  const citations = list(item['content']).flatMap((part) => list(part['annotations']));
  return (
    OPEN_ITEMS.has(word(item['type'])) &&
    citations.every((citation) => word(citation['type']) === 'url_citation')
  );
}

function openly(name: string, value: Loose): string[] {
  return (openResponses.problems(name, value) ?? []).map((problem) => `Open Responses: ${problem}`);
}

/** The names in the document of events that OpenAI has as well. Its `error` and `response.reasoning.…` are its own. */
const OPEN_EVENTS: Readonly<Record<string, string>> = {
  'response.output_item.added': 'ResponseOutputItemAddedStreamingEvent',
  'response.output_item.done': 'ResponseOutputItemDoneStreamingEvent',
  'response.content_part.added': 'ResponseContentPartAddedStreamingEvent',
  'response.content_part.done': 'ResponseContentPartDoneStreamingEvent',
  'response.output_text.delta': 'ResponseOutputTextDeltaStreamingEvent',
  'response.output_text.done': 'ResponseOutputTextDoneStreamingEvent',
  'response.output_text.annotation.added': 'ResponseOutputTextAnnotationAddedStreamingEvent',
  'response.refusal.delta': 'ResponseRefusalDeltaStreamingEvent',
  'response.refusal.done': 'ResponseRefusalDoneStreamingEvent',
  'response.function_call_arguments.delta': 'ResponseFunctionCallArgumentsDeltaStreamingEvent',
  'response.function_call_arguments.done': 'ResponseFunctionCallArgumentsDoneStreamingEvent',
  'response.reasoning_summary_part.added': 'ResponseReasoningSummaryPartAddedStreamingEvent',
  'response.reasoning_summary_part.done': 'ResponseReasoningSummaryPartDoneStreamingEvent',
  'response.reasoning_summary_text.delta': 'ResponseReasoningSummaryDeltaStreamingEvent',
  'response.reasoning_summary_text.done': 'ResponseReasoningSummaryDoneStreamingEvent',
};

function openEventProblems(event: Loose): string[] {
  const name = OPEN_EVENTS[word(event['type'])];
  const citations = [event['annotation'], ...list(at(event, 'part', 'annotations'))];
  const isForeign = citations.some((each) => each && word(each['type']) !== 'url_citation');
  const item = at(event, 'item');
  return name === undefined || isForeign || (item && !isOpen(item)) ? [] : openly(name, event);
}

/** Mistakes of an object that is not an event, in its eyes. @param name one of its `components.schemas` */
export function fitsOpenlyAs(name: string, value: Loose): string[] {
  return hasDocuments ? openly(name, value) : [];
}

/** Mistakes of an event in the eyes of Open Responses alone. Empty where the documents are not there. */
export function fitsOpenly(event: Loose): string[] {
  if (!hasDocuments) return [];
  const type = word(event['type']);
  const lifecycle = /^response\.(created|in_progress|completed|incomplete|failed)$/.exec(type)?.[1];
  const parts = lifecycle?.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1));
  const reasoning = /^response\.reasoning\.(delta|done)$/.exec(type)?.[1];
  const name = parts
    ? `Response${parts.join('')}StreamingEvent`
    : reasoning
      ? `ResponseReasoning${reasoning === 'delta' ? 'Delta' : 'Done'}StreamingEvent`
      : OPEN_EVENTS[type];
  return name === undefined ? [`Open Responses has no event ${type}`] : openly(name, event);
}
