// All limits of the gateway: those of the current configuration and of stored keys, with their usage. One object per
// process; its counters survive changes of the configuration.
import { Limiter, type LimitUsage } from './limiter.ts';
import type { LimitEntry } from './rule.ts';
import { OWNER_KINDS, type Owner, type Scope } from './scope.ts';
import type { Sharing } from './sharing.ts';
import type { UnixMs } from '../../base/units.ts';

/** Configured limits of one owner. */
export interface Written {
  readonly owner: Owner;
  readonly entries: readonly LimitEntry[];
}

/** Source of configured limits: file or database. */
export interface LimitSource {
  /** Limits of the gateway (empty id), a project, a key or a provider; empty: none. */
  entriesOf(kind: Owner['kind'], id: string): readonly LimitEntry[];
  /** True if any provider has limits. */
  limitsProviders(): boolean;
  /** All owners that have limits, including keys. */
  all(): Iterable<Written>;
}

/** Sender of a request: a key, and the project that it belongs to. */
export interface Tenant {
  readonly keyId: string;
  /** Name of the project; the key's own id if it has none. */
  readonly projectId: string;
  /** Name of the key. */
  readonly name: string;
  /** Limits of the key, in addition to those of its project. */
  readonly limits: readonly LimitEntry[];
}

/** Filter of owners. Absent members match all. */
export interface OwnerFilter {
  readonly kinds?: readonly Owner['kind'][] | undefined;
  readonly id?: string | undefined;
}

const NO_SCOPES: readonly Scope[] = [];

export class Limits {
  readonly limiter: Limiter;
  /** False, as usual, if no provider has limits. Attempts then skip them. */
  hasProviders: boolean;
  readonly #source: LimitSource;
  /** Scopes by tenant. The same object represents a key until keys are read again. */
  #byTenant = new WeakMap<Tenant, readonly Scope[]>();
  /** Scopes shared by several tenants, by kind and id. Null: no limits. */
  readonly #shared = new Map<string, Scope | null>();

  /**
   * @param now monotonic milliseconds
   * @param sharing shares limits between processes; null: there is one process
   * @param wall Unix milliseconds by the machine's clock; absent: `now`
   */
  constructor(source: LimitSource, now: () => UnixMs, sharing: Sharing | null = null, wall?: () => UnixMs) {
    this.#source = source;
    this.hasProviders = source.limitsProviders();
    this.limiter = new Limiter({ now, wall, sharing });
  }

  /**
   * Applies changed limits. Running requests keep their reservations.
   * @param changed owners whose limits changed; absent: all. Avoids work for 100,000 unchanged keys
   */
  refresh(changed?: readonly Owner[]): void {
    this.#byTenant = new WeakMap();
    this.#shared.clear();
    this.hasProviders = this.#source.limitsProviders();
    if (!changed) this.limiter.keep(Array.from(this.#source.all(), ({ owner }) => owner));
    else
      for (const owner of changed)
        if (this.#source.entriesOf(owner.kind, owner.id).length === 0) this.limiter.forget(owner);
  }

  /** Scopes whose limits apply to a tenant's requests; empty: none. Returns the same list until `refresh`. */
  scopesOf(tenant: Tenant): readonly Scope[] {
    let scopes = this.#byTenant.get(tenant);
    if (!scopes) this.#byTenant.set(tenant, (scopes = this.#read(tenant)));
    return scopes;
  }

  /** Limits of a provider. Null: none. */
  ofProvider(provider: string): Scope | null {
    return this.#find('provider', provider);
  }

  /** Configured limits of all owners, or of some. */
  written(owners?: readonly Owner[]): readonly Written[] {
    if (!owners) return [...this.#source.all()];
    return owners.map((owner) => ({ owner, entries: this.#source.entriesOf(owner.kind, owner.id) }));
  }

  /** Configured limits of certain kinds or of one id, in the order of the kinds. */
  writtenFor({ kinds = OWNER_KINDS, id }: OwnerFilter = {}): readonly Written[] {
    const found: Written[] = [];
    for (const one of this.#source.all())
      if (kinds.includes(one.owner.kind) && (id ?? one.owner.id) === one.owner.id) found.push(one);
    return found.toSorted((a, b) => OWNER_KINDS.indexOf(a.owner.kind) - OWNER_KINDS.indexOf(b.owner.kind));
  }

  /** Scopes of configured limits. */
  scopes(written: readonly Written[]): readonly Scope[] {
    return written.map(({ owner, entries }) => this.limiter.scope(owner, entries));
  }

  /** Usage of configured limits, without those per end user, which are not listed anywhere. */
  limitUsages(written: readonly Written[]): readonly LimitUsage[] {
    return this.limiter.limitUsages(this.scopes(written), null, null);
  }

  #read({ keyId, projectId, name, limits }: Tenant): readonly Scope[] {
    const scopes = [
      this.#find('gateway', ''),
      projectId === keyId ? null : this.#find('project', projectId),
      limits.length > 0 ? this.limiter.scope({ kind: 'key', id: keyId, name }, limits) : null,
    ].filter((scope) => scope !== null);
    return scopes.length > 0 ? scopes : NO_SCOPES;
  }

  #find(kind: Exclude<Owner['kind'], 'key'>, id: string): Scope | null {
    const word = `${kind} ${id}`;
    let scope = this.#shared.get(word);
    if (scope === undefined) {
      const entries = this.#source.entriesOf(kind, id);
      scope = entries.length > 0 ? this.limiter.scope({ kind, id, name: id }, entries) : null;
      this.#shared.set(word, scope);
    }
    return scope;
  }
}
