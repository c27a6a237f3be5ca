// Texts that several files use: errors, reports and descriptions of members. A text of one file stays in that file.
import type { DurationMs } from '../base/units.ts';

export const TEXTS = {
  // Upstreams and their answers.
  upstreamStatus: (status: number) => `the upstream answered with status ${status}`,
  upstreamAnswered: (what: string) => `the upstream answered with ${what}`,
  statusOf: (origin: string, status: number) => `${origin} answered with status ${status}`,
  /** @param limitMs milliseconds */
  timedOut: (limitMs: DurationMs) => `no complete answer within ${limitMs} ms`,
  incomplete: 'the answer ended before it was complete',
  moreThanBytes: (bytes: number) => `more than ${bytes} bytes`,
  notFetched: (reason: string) => `this address could not be fetched: ${reason}`,
  strictUpstream: 'the upstream refuses members that it does not know',
  notImplemented: (protocol: string) => `the protocol ${protocol} is not implemented`,
  askProvider: 'Ask the provider itself.',
  noMessage: 'the upstream answered with something that is not a message',
  unknownMember: 'the upstream does not know this member',
  unknownToAnthropic: 'Anthropic does not know this member',
  noPlace: 'the upstream has no place for it',
  noFormat: 'this upstream has no such answer format',
  noBreakpoints: 'the upstream has no prompt-cache breakpoints',
  connectionBroke: 'the connection broke',

  // Translations.
  assistantOpens: '(The assistant opens the conversation.)',
  contentNotSent: 'its content is not sent',
  writesAtMost: (tokens: number) => `the model writes at most ${tokens} tokens`,
  needsBudget: 'the model needs a budget, and none is known',
  oneSampling: 'Claude takes temperature or top_p, not both',
  largestTemperature: (most: number) => `the largest temperature is ${most}`,
  noTools: 'there are no tools',
  noToolToChoose: 'there is no tool to choose',
  customAsFunction: 'a custom tool is sent as a function with one string argument',
  ownStream: 'the gateway writes the stream itself',

  // Runs and jobs.
  clientClosed: 'the client closed the connection',
  shuttingDown: 'the gateway is shutting down',
  shuttingDownTryAgain: 'the gateway is shutting down; try again',
  stopped: 'The gateway was stopped.',
  notMade: 'the answer was not made',
  notKept: 'an answer could not be kept',
  noBackground: (protocol: string) => `${protocol} has no answers in the background`,
  takenOver: 'another process has taken over the job',
  notAllowed: 'Nobody has allowed this call.',
  withoutAttempt: 'an answer that no attempt gave',

  // Values of members, headers and parameters.
  mustBeObject: (given: string) => `must be an object, not ${given}`,
  mustBeBody: 'must be an object: the body of the request',
  mustBeString: (given: string) => `must be a string, not ${given}`,
  mustBeShort: (most: number) => `must be a string of 1 to ${most} characters`,
  mustBeInteger: (least: number, most: number) => `must be an integer from ${least} to ${most}`,
  mustBeCount: 'must be an integer of at least 0',
  mustBeBoolean: 'must be true or false',
  mustBeOneOf: (words: string) => `must be one of ${words}`,
  mustBeSomeOf: (words: readonly string[]) => `must be some of ${words.join(', ')}, behind commas`,
  mustBeVisible: (header: string) => `${header}: must be 1 to 255 visible ASCII characters`,
  tooLong: (characters: number) => `must not have more than ${characters} characters`,
  tooManySequences: (most: number) => `must not have more than ${most} sequences`,
  tooManyElements: (most: number, given: number) =>
    `must not hold more than ${most} elements; there are ${given}`,
  notInList: (id: string) => `there is no '${id.slice(0, 100)}' in this list`,
  mustBeHttpAddress: 'must be an http or https address',
  nameCharacters: 'may hold letters, digits, `.`, `_` and `-`',

  // Schemas and grammars.
  unusableSchema: (path: string, reason: string) => `${path}: the schema cannot be used: ${reason}`,
  checkTooSlow: (seconds: number) => `checking it takes longer than ${seconds} seconds`,
  tooDeep: (levels: number) => `more than ${levels} levels deep`,
  repetitionOrder: 'the bounds of a repetition are out of order',

  // Configuration.
  cannotRead: (path: string, reason: string) => `cannot read ${path}: ${reason}`,
  notRegularFile: 'it is not a regular file',
  missingSetting: (variable: string) => `missing: set it here or in the environment variable ${variable}`,
  noSuchModel: (id: string, hint: string) => `"${id}" is no model of a provider that is on${hint}`,
  containerAgent: 'the container credential agent',
  managedIdentity: 'the managed identity',
  gcloudLogin: 'the login of gcloud',
  configuredSecret: 'the secret of the configuration',

  // Storage.
  noDatabase: (folder: string) => `there is no database in ${folder}`,
  recordsWait: 'the database takes no records: they wait in the journal',
  notReplayable: (reason: string | null) => `This request cannot be sent again: ${reason}.`,

  // The console, and descriptions in /openapi.json.
  ownPageOnly: 'The console is asked by its own page only.',
  changedInFile: 'What the file defines is changed there alone.',
  modelId: 'The id of the model.',
  goneKey: 'Null: the key is gone.',
  clamped: 'Not negative; clamped to what the model takes.',
  endsBatch: 'Ends a batch: what is finished is in its results.',
  forgetsBatch: 'Forgets a batch that has ended, and its results.',
  runningAttempts: 'Attempts that run now.',
  pageSize: 'Most entries of the page.',
  providersWords: 'In the words of the provider.',
  noKnownPrice: 'Null: nothing has a known price.',
  managementHas: '`/v1/management` has keys, projects, limits and usage.',
  countsTokens: 'Counts the tokens of a request without sending it to a model that answers.',
} as const;
