// A task: a kind of request with all of its properties. All other code handles tasks through this interface, without
// naming them.
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
import type { ApprovedCalls } from '../tool-loop/index.ts';
import type { ClientConnection } from '../cancellation.ts';

/** State shared by all requests of the process. */
export interface Shared {
  readonly learned: LearnedRefusals;
  readonly approved: ApprovedCalls;
  readonly cohorts: Cohorts;
}

/** A request whose routing is explained. */
export interface Explained {
  readonly request: CanonicalRequest;
  /** Characters of the largest input, which must fit the model's context. */
  readonly inputChars: number;
  /** Estimated tokens of the prompt. */
  readonly inputTokens: () => number;
}

/** Answers a recorded request. Never rejects. @returns true when the client has a complete, successful answer */
export type Answering = (arrival: Arrival, clientConnection: ClientConnection) => Promise<boolean>;

/** Services of the gateway for tasks. */
export interface TaskEngine {
  readonly deps: GatewayDependencies;
  readonly shared: Shared;
  /** Answers a request with an id, idempotency, logging and a client connection. Never rejects. */
  recorded(call: ApiCall, answering: Answering): Promise<unknown>;
  /** Runs work that is not recorded; a shutdown waits for it. */
  unrecorded<Made>(work: () => Promise<Made>): Promise<Made>;
}

export interface Task {
  /** Name in addresses, provider data, records and metrics. */
  readonly name: string;
  /** Absent: text. */
  readonly facts?: TaskFacts;
  /** Routes of a protocol's clients, in addition to the protocol's own addresses. */
  readonly clients: readonly { readonly protocol: ProtocolName; readonly routes: readonly ClientRoute[] }[];
  /** True: its requests are recorded, and limits, logging and idempotency keys apply. */
  readonly isRecorded: boolean;
  /** Answers one request. Rejects only when nothing was sent to the client. */
  answer(call: ApiCall, engine: TaskEngine): Promise<unknown>;
  /** Absent: not routed. Throws the GatewayError with which the request itself would be refused. */
  explain?(call: ExplainCall, settings: EngineSettings): Explained;
  /** Route of its model list, with the path below the API's bases. Absent: none. */
  readonly models?: Pick<RouteDescription, 'id' | 'path' | 'tag' | 'summary'>;
  /** The smallest request, for probes. Absent: the doctor has its own probes. */
  readonly probe?: {
    readonly tokens: number;
    /** @returns why there is no successful answer, without secrets; null: there is one. Never rejects */
    ask(endpoint: Endpoint, asking: AnswerAsking): Promise<GatewayError | null>;
  };
  /** Absent: the simulated provider implements it elsewhere, or not at all. */
  readonly simulated?: SimulatedTask;
}
