// The management API of a running gateway, loaded on first use, because most gateways never need it.
import { type AdminSignIn, type KeyIndex, presentedKey } from '../../../accounts/auth/index.ts';
import { invalidMember, toWishes } from '../../../canonical/index.ts';
import { checkWishes, knownProviders, type DraftAnswer, type Snapshot } from '../../config/index.ts';
import type { Diagnosis } from '../../../operations/doctor/index.ts';
import type { Gateway } from '../../../engine/index.ts';
import type { EventHub, LastUsed } from '../../../operations/events/index.ts';
import type { Limits } from '../../../accounts/limits/index.ts';
import type { ManagementDependencies } from '../../../operations/management/index.ts';
import type { PayloadKeeper } from '../../../operations/payloads/index.ts';
import { presets } from '../../../catalog/providers/index.ts';
import type { RoutingState } from '../../../engine/routing/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Connection } from '../../../base/runtime/http-server.ts';
import type { BodyReader } from '../../../server/body/body-reader.ts';
import type { MemoryBudget } from '../../../server/body/memory-budget.ts';
import { explainedProtocol } from '../../../server/client-protocol.ts';
import { replayRequest } from '../../../server/replay.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Redact } from '../../../base/telemetry/redact.ts';
import { configuredTenants } from './open-tenants.ts';

export interface ManagementInput {
  readonly authenticateAdmin: AdminSignIn;
  readonly storage: Storage;
  readonly keys: KeyIndex;
  readonly snapshot: () => Snapshot;
  /** The configuration file. Null: none. */
  readonly path: string | null;
  /** Checks the text of a file. */
  readonly tryDraft: (text: string, signal: AbortSignal) => Promise<DraftAnswer>;
  readonly findings: () => readonly Diagnosis[];
  readonly redact: Redact;
  readonly gateway: Gateway;
  readonly payloads: PayloadKeeper;
  readonly events: EventHub;
  readonly lastUsed: LastUsed;
  readonly routing: RoutingState;
  readonly limits: Limits;
  readonly probes: ManagementDependencies['probes'];
  readonly jobs: ManagementDependencies['jobs'];
  readonly batches: ManagementDependencies['batches'];
  readonly webhooks: ManagementDependencies['webhooks'];
  readonly sessions: ManagementDependencies['sessions'];
  readonly bodies: BodyReader;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Purpose of the secret that seals stored answers. */
const ANSWERS = 'answers of management';

type Answering = (request: Request, connection: Connection) => Promise<Response>;

/** @returns the handler of all requests below `/management` */
export function openManagement(input: ManagementInput): Answering {
  let opened: Promise<Answering> | undefined;
  return async (request, connection) => {
    opened ??= open(input);
    return (await opened)(request, connection);
  };
}

async function open({
  storage,
  keys,
  snapshot,
  path,
  clock,
  lastUsed,
  ...input
}: ManagementInput): Promise<Answering> {
  const management = await import('../../../operations/management/index.ts');
  return management.openManagement({
    ...input,
    audit: storage.audit,
    alerts: storage.alerts,
    answers: {
      store: storage.managementAnswers,
      secrets: [await storage.secret(ANSWERS), ...(await storage.earlierSecrets(ANSWERS))],
    },
    ledger: storage.ledger,
    usage: storage.usage,
    lastUsed: (keyId) => lastUsed.of(keyId),
    tenants: {
      storage,
      pepper: await storage.secret('pepper'),
      earlierPeppers: await storage.earlierSecrets('pepper'),
      configured: () => configuredTenants(snapshot().config),
      now: clock.wall,
    },
    tenantsChanged: async () => void (await keys.refresh()),
    lookForKey: (header) => keys.lookFor(presentedKey(header), clock.wall()),
    checkRouting(routing) {
      const { config, catalog } = snapshot();
      const known = { catalog, providers: knownProviders({ config, presets }) };
      checkWishes(toWishes(routing, 'routing'), known, (param, message) => {
        throw invalidMember(param, message);
      });
    },
    now: clock.wall,
    clock,
    configuration: () => ({ path, revision: snapshot().revision, show: snapshot().show }),
    timeZone: () => snapshot().config.server.timezone,
    catalog: () => snapshot().catalog,
    replay: (request, signal) => replayRequest(input, request, signal),
    explain: (principal, json) =>
      input.gateway.explain({
        protocol: explainedProtocol(null, json, () => null),
        principal,
        json,
        bodyChars: JSON.stringify(json).length,
        header: () => null,
      }),
    keyById: (keyId) => keys.keyById(keyId, clock.wall()),
    routingSettings: () => snapshot().config.routing,
    async checkDraft(text, signal) {
      const { problems, unchecked } = await input.tryDraft(text, signal);
      return { problems: problems.map(input.redact), unchecked };
    },
  });
}
