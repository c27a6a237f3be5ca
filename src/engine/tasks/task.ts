// A kind of request: all that the gateway knows of it. Whoever serves, limits, routes, records, describes or simulates requests
// reads this, and knows no task by name.
import type { RouteDescription } from '../../base/lib/route-description.ts';
import type {
  CanonicalRequest,
  GatewayError,
  ProtocolName,
  SimulatedTask,
  TaskFacts,
} from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { ClientRoute } from '../../protocols/index.ts';
import type { ApiCall, Arrival, ExplainCall } from '../call.ts';
import type { AnswerAsking, LearnedRefusals } from '../attempt/index.ts';
import type { Cohorts } from '../cohort.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { EngineSettings } from '../settings.ts';
import type { AnsweredCalls } from '../tool-loop/index.ts';
import type { ClientConnection } from '../cancellation.ts';

/** State that all requests of the process share: what they learn, and company. */
export interface Shared {
  readonly learned: LearnedRefusals;
  readonly answered: AnsweredCalls;
  readonly cohorts: Cohorts;
}

/** A request as its route is explained. */
export interface Explained {
  readonly request: CanonicalRequest;
  /** Characters of the largest piece that has to fit a model's context. */
  readonly inputChars: number;
  /** Tokens of the prompt, by estimate. */
  readonly inputTokens: () => number;
}

/** Makes the answer of a recorded request. Never rejects. @returns true when the client has a complete, good one */
export type Answering = (arrival: Arrival, clientConnection: ClientConnection) => Promise<boolean>;

/** Services of the gateway for tasks. */
export interface TaskEngine {
  readonly deps: GatewayDependencies;
  readonly shared: Shared;
  /** Gives the request an id, its idempotency key's answer, its log and its client, then lets it be answered. Never rejects. */
  recorded(call: ApiCall, answering: Answering): Promise<unknown>;
  /** Does what is not recorded; a shutdown waits for it. */
  unrecorded<Made>(work: () => Promise<Made>): Promise<Made>;
}

export interface Task {
  /** Name in addresses, in data of providers, in records and in metrics. */
  readonly name: string;
  /** Absent: text. */
  readonly facts?: TaskFacts;
  /** Paths at which clients of a protocol ask for it, besides the addresses of the protocol itself. */
  readonly clients: readonly { readonly protocol: ProtocolName; readonly routes: readonly ClientRoute[] }[];
  /** True: its requests are recorded, and limits, logs and idempotency keys hold for them. */
  readonly isRecorded: boolean;
  /** Answers one request. Rejects only where nothing was sent to the client. */
  answer(call: ApiCall, engine: TaskEngine): Promise<unknown>;
  /** Absent: it is not routed. Throws GatewayError for what the request itself would be refused for. */
  explain?(call: ExplainCall, settings: EngineSettings): Explained;
  /** Route of the list of its models, with its path below the API's bases. Absent: there is none. */
  readonly models?: Pick<RouteDescription, 'id' | 'path' | 'tag' | 'summary'>;
  /** The smallest request, for whoever examines an endpoint. Absent: the doctor has probes of its own. */
  readonly probe?: {
    readonly tokens: number;
    /** @returns why there is no good answer, without secrets; null where there is one. Never rejects */
    ask(endpoint: Endpoint, asking: AnswerAsking): Promise<GatewayError | null>;
  };
  /** Absent: the simulated provider does it by itself, or not at all. */
  readonly simulated?: SimulatedTask;
}
