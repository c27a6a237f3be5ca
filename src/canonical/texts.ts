// Texts that several files use: errors, reports and descriptions of members. A text of one file stays in that file.
import type { DurationMs } from '../base/units.ts';

export const TEXTS = {
  // Upstreams and their answers.
  upstreamStatus: (status: number) => `the upstream returned status ${status}`,
  upstreamAnswered: (what: string) => `the upstream returned ${what}`,
  statusOf: (origin: string, status: number) => `${origin} returned status ${status}`,
  /** @param limitMs milliseconds */
  timedOut: (limitMs: DurationMs) => `no complete response within ${limitMs} ms`,
  incomplete: 'the response ended before it was complete',
  moreThanBytes: (bytes: number) => `more than ${bytes} bytes`,
  notFetched: (reason: string) => `this URL could not be fetched: ${reason}`,
  strictUpstream: 'the upstream rejects unknown fields',
  notImplemented: (protocol: string) => `the protocol ${protocol} is not implemented`,
  askProvider: 'Call the provider directly.',
  noMessage: "the upstream's response is not a message",
  unknownMember: 'the upstream does not support this field',
  unknownToAnthropic: 'Anthropic does not support this field',
  noPlace: 'the upstream has no equivalent field',
  noFormat: 'the upstream does not support this response format',
  noBreakpoints: 'the upstream does not support prompt-cache breakpoints',
  connectionBroke: 'the connection was lost',

  // Translations.
  assistantOpens: '(The assistant opens the conversation.)',
  contentNotSent: 'its content is not sent',
  writesAtMost: (tokens: number) => `the model's output limit is ${tokens} tokens`,
  needsBudget: 'the model requires a reasoning budget, and none is known',
  oneSampling: 'Claude accepts temperature or top_p, not both',
  largestTemperature: (most: number) => `the maximum temperature is ${most}`,
  noTools: 'the request has no tools',
  noToolToChoose: 'no tool is left to choose',
  customAsFunction: 'a custom tool is sent as a function with one string argument',
  ownStream: 'the gateway generates the stream itself',

  // Runs and jobs.
  clientClosed: 'the client closed the connection',
  shuttingDown: 'the gateway is shutting down',
  shuttingDownTryAgain: 'The gateway is shutting down. Try again.',
  stopped: 'The gateway was stopped.',
  notMade: 'the response was not generated',
  notKept: 'a response could not be stored',
  noBackground: (protocol: string) => `${protocol} does not support background responses`,
  /** @param name of another file of the project */
  fileExists: (name: string) => `The file '${name}' exists already. Delete it, or choose another name.`,
  takenOver: 'another process has taken over the job',
  notAllowed: 'This call has not been approved.',
  withoutAttempt: 'a response without an attempt',

  // Values of members, headers and parameters.
  mustBeObject: (given: string) => `must be an object, not ${given}`,
  mustBeBody: 'must be an object that contains the request body',
  mustBeString: (given: string) => `must be a string, not ${given}`,
  mustBeShort: (most: number) => `must be a string of 1 to ${most} characters`,
  mustBeInteger: (least: number, most: number) => `must be an integer from ${least} to ${most}`,
  mustBeCount: 'must be an integer of at least 0',
  mustBeEventNumber: 'must be an event number',
  mustBeBoolean: 'must be true or false',
  mustBeOneOf: (words: string) => `must be one of ${words}`,
  mustBeSomeOf: (words: readonly string[]) => `must be a comma-separated list of ${words.join(', ')}`,
  mustBeVisible: (header: string) => `${header}: must be 1 to 255 visible ASCII characters`,
  tooLong: (characters: number) => `must have at most ${characters} characters`,
  tooManySequences: (most: number) => `must have at most ${most} sequences`,
  tooManyElements: (most: number, given: number) => `must have at most ${most} elements (got ${given})`,
  notInList: (id: string) => `'${id.slice(0, 100)}' is not in this list`,
  mustBeHttpAddress: 'must be an http or https address',
  nameCharacters: 'may contain only letters, digits, `.`, `_` and `-`',

  // Schemas and grammars.
  unusableSchema: (path: string, reason: string) => `${path}: the schema cannot be used: ${reason}`,
  checkTooSlow: (seconds: number) => `checking it takes longer than ${seconds} seconds`,
  tooDeep: (levels: number) => `more than ${levels} levels deep`,
  repetitionOrder: 'the bounds of a repetition are out of order',

  // Configuration.
  cannotRead: (path: string, reason: string) => `cannot read ${path}: ${reason}`,
  mustBeCertificates: 'must contain certificates in PEM format',
  notRegularFile: 'it is not a regular file',
  missingSetting: (variable: string) => `missing: set it here or in the environment variable ${variable}`,
  noSuchModel: (id: string, hint: string) => `"${id}" is not a model of an enabled provider${hint}`,
  containerAgent: 'the container credential agent',
  managedIdentity: 'the managed identity',
  gcloudLogin: 'the gcloud login',
  configuredSecret: 'the configured secret',

  // Storage.
  noDatabase: (folder: string) => `there is no database in ${folder}`,
  recordsWait: 'records cannot be written to the database; they are queued in the journal',
  journalFull: 'the journal or the disk is full',
  notReplayable: (reason: string | null) => `This request cannot be replayed: ${reason}.`,

  // The console, and descriptions in /openapi.json.
  ownPageOnly: 'The console API accepts requests only from the console itself.',
  changedInFile: 'Objects that the configuration file defines can be changed only there.',
  modelId: 'The id of the model.',
  goneKey: 'Null: the key was deleted.',
  clamped: 'Not negative; clamped to the range of the model.',
  endsBatch: 'Cancels a batch. Its results contain the requests that have finished.',
  forgetsBatch: 'Deletes a batch that has ended, and its results.',
  runningAttempts: 'Attempts in progress.',
  pageSize: 'Maximum number of entries per page.',
  providersWords: "The provider's message.",
  noKnownPrice: 'Null: no price is known.',
  managementHas: 'Use `/v1/management` for keys, projects, limits and usage.',
  countsTokens: 'Counts the tokens of a request without generating a response.',
} as const;
