// The management API of a running gateway, loaded when somebody first asks it: most gateways are never asked.
import type { AdminSignIn, KeyIndex } from '../../auth/index.ts';
import { GatewayError, toWishes } from '../../canonical/index.ts';
import { checkWishes, ConfigError, knownProviders, type Snapshot } from '../../config/index.ts';
import type { Diagnosis } from '../../doctor/index.ts';
import type { Gateway } from '../../engine/index.ts';
import type { EventHub } from '../../events/index.ts';
import type { Limits } from '../../limits/index.ts';
import type { PayloadKeeper } from '../../payloads/index.ts';
import { presets } from '../../providers/index.ts';
import type { RoutingState } from '../../routing/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Connection } from '../../runtime/http-server.ts';
import type { BodyReader } from '../../server/body/body-reader.ts';
import type { MemoryBudget } from '../../server/body/memory-budget.ts';
import { replayRequest } from '../../server/replay.ts';
import type { Storage } from '../../storage/ports.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Redact } from '../../telemetry/redact.ts';
import { configuredTenants } from './open-tenants.ts';

export interface ManagementInput {
  readonly authenticateAdmin: AdminSignIn;
  readonly storage: Storage;
  readonly keys: KeyIndex;
  readonly snapshot: () => Snapshot;
  /** The configuration file; null: there is none. */
  readonly path: string | null;
  /** Throws ConfigError for the text of a file that could not be in force. */
  readonly tryDraft: (text: string) => void;
  readonly findings: () => readonly Diagnosis[];
  readonly redact: Redact;
  readonly gateway: Gateway;
  readonly payloads: PayloadKeeper;
  readonly events: EventHub;
  readonly routing: RoutingState;
  readonly limits: Limits;
  readonly bodies: BodyReader;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly log: Logger;
}

type Answering = (request: Request, connection: Connection) => Promise<Response>;

/** @returns what answers every request below `/management` */
export function openManagement(input: ManagementInput): Answering {
  let opened: Promise<Answering> | undefined;
  return async (request, connection) => {
    opened ??= open(input);
    return (await opened)(request, connection);
  };
}

async function open({ storage, keys, snapshot, path, clock, ...input }: ManagementInput): Promise<Answering> {
  const management = await import('../../management/index.ts');
  return management.openManagement({
    ...input,
    audit: storage.audit,
    ledger: storage.ledger,
    usage: storage.usage,
    tenants: {
      storage,
      pepper: await storage.secret('pepper'),
      earlierPeppers: await storage.earlierSecrets('pepper'),
      configured: () => configuredTenants(snapshot().config),
      now: clock.now,
    },
    tenantsChanged: async () => void (await keys.refresh()),
    checkRouting(routing) {
      const { config, catalog } = snapshot();
      const known = { catalog, providers: knownProviders({ config, presets }) };
      checkWishes(toWishes(routing, 'routing'), known, (param, message) => {
        throw new GatewayError('invalid_request', `${param}: ${message}`, { param });
      });
    },
    now: clock.now,
    clock,
    configuration: () => ({ path, revision: snapshot().revision, show: snapshot().show }),
    catalog: () => snapshot().catalog,
    replay: (request, signal) => replayRequest(input, request, signal),
    keyById: (keyId) => keys.keyById(keyId, clock.now()),
    routingSettings: () => snapshot().config.routing,
    checkDraft: (text) => problemsOf(() => input.tryDraft(text)).map(input.redact),
  });
}

function problemsOf(attempt: () => void): readonly string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
