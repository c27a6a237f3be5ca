// The limits of a whole gateway: whose they are, as the configuration and the stored keys have them just now, and what is
// used of each. One object of the process; what it counts outlives every change of what is written.
import { Limiter, type Standing } from './limiter.ts';
import type { LimitEntry } from './rule.ts';
import { OWNER_KINDS, type Owner, type Scope } from './scope.ts';
import type { Sharing } from './sharing.ts';
import type { UnixMs } from '../../base/units.ts';

/** Limits that are configured for one owner. */
export interface Written {
  readonly owner: Owner;
  readonly entries: readonly LimitEntry[];
}

/** Source of configured limits: file or database. */
export interface LimitSource {
  /** Limits of all requests (the id is empty), of a project, a key or a provider; empty where there are none. */
  entriesOf(kind: Owner['kind'], id: string): readonly LimitEntry[];
  /** True where anything is written for some provider. */
  limitsProviders(): boolean;
  /** All of it, that of keys as well; nobody for whom nothing is written. */
  all(): Iterable<Written>;
}

/** Sender of a request: a key, and the project that it belongs to. */
export interface Tenant {
  readonly keyId: string;
  /** Name of the project; the key's own id where it has none. */
  readonly projectId: string;
  /** As people call the key. */
  readonly name: string;
  /** Limits of the key, besides those of its project. */
  readonly limits: readonly LimitEntry[];
}

/** Owners whose limits are asked for; an absent member is no condition. */
export interface OwnerFilter {
  readonly kinds?: readonly Owner['kind'][] | undefined;
  readonly id?: string | undefined;
}

const NOBODY: readonly Scope[] = [];

export class Limits {
  readonly limiter: Limiter;
  /** False where no provider has limits, as usual: nobody has to be asked for them then. */
  hasProviders: boolean;
  readonly #source: LimitSource;
  /** By tenant: one object stands for a key until keys are read again. */
  #byTenant = new WeakMap<Tenant, readonly Scope[]>();
  /** Scopes that several tenants share, by kind and id. Null: no limits are configured. */
  readonly #shared = new Map<string, Scope | null>();

  /**
   * @param now milliseconds that only go forward
   * @param sharing shares limits among processes; null: there is but one
   * @param wall Unix milliseconds by the machine's clock; absent: `now`
   */
  constructor(source: LimitSource, now: () => UnixMs, sharing: Sharing | null = null, wall?: () => UnixMs) {
    this.#source = source;
    this.hasProviders = source.limitsProviders();
    this.limiter = new Limiter({ now, wall, sharing });
  }

  /**
   * Takes changed limits. Running requests keep their reservations.
   * @param changed for whom alone; of a hundred thousand others nothing is asked then
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

  /** The owners whose limits hold for a tenant's requests; empty where there are none. The same list until `refresh`. */
  scopesOf(tenant: Tenant): readonly Scope[] {
    let scopes = this.#byTenant.get(tenant);
    if (!scopes) this.#byTenant.set(tenant, (scopes = this.#read(tenant)));
    return scopes;
  }

  /** Limits of a provider's vendor. Null: none are configured. */
  ofProvider(provider: string): Scope | null {
    return this.#find('provider', provider);
  }

  /** All that is written, or what is written for some. */
  written(owners?: readonly Owner[]): readonly Written[] {
    if (!owners) return [...this.#source.all()];
    return owners.map((owner) => ({ owner, entries: this.#source.entriesOf(owner.kind, owner.id) }));
  }

  /** Configured limits of some kinds, or of an id, in the order of the kinds. */
  writtenFor({ kinds = OWNER_KINDS, id }: OwnerFilter = {}): readonly Written[] {
    const found: Written[] = [];
    for (const one of this.#source.all())
      if (kinds.includes(one.owner.kind) && (id ?? one.owner.id) === one.owner.id) found.push(one);
    return found.toSorted((a, b) => OWNER_KINDS.indexOf(a.owner.kind) - OWNER_KINDS.indexOf(b.owner.kind));
  }

  /** Their limits. */
  scopes(written: readonly Written[]): readonly Scope[] {
    return written.map(({ owner, entries }) => this.limiter.scope(owner, entries));
  }

  /** Use of their limits. Those that each end user has are left out: nobody has a list of them. */
  standings(written: readonly Written[]): readonly Standing[] {
    return this.limiter.standings(this.scopes(written), null, null);
  }

  #read({ keyId, projectId, name, limits }: Tenant): readonly Scope[] {
    const scopes = [
      this.#find('gateway', ''),
      projectId === keyId ? null : this.#find('project', projectId),
      limits.length > 0 ? this.limiter.scope({ kind: 'key', id: keyId, name }, limits) : null,
    ].filter((scope) => scope !== null);
    return scopes.length > 0 ? scopes : NOBODY;
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
