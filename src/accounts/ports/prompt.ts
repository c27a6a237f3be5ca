// Port of stored prompt templates.
import type { JsonObject } from '../../base/json/index.ts';
import type { PageRequest } from './index.ts';
import type { UnixMs } from '../../base/units.ts';

export interface PromptVersion {
  /** `1`, `2`, … in order of creation. Numbers of deleted versions are not reused. */
  readonly version: string;
  readonly createdAt: UnixMs;
  readonly template: JsonObject;
}

export interface StoredPrompt {
  readonly id: string;
  readonly projectId: string;
  readonly name: string | null;
  readonly defaultVersion: string;
  readonly createdAt: UnixMs;
  /** Newest first. */
  readonly versions: readonly PromptVersion[];
}

export interface PromptPage {
  readonly prompts: readonly StoredPrompt[];
  readonly hasMore: boolean;
}

export interface PromptStore {
  /** Stores the template as version 1, the default. @throws GatewayError `quota` */
  create(
    prompt: Pick<StoredPrompt, 'id' | 'projectId' | 'name' | 'createdAt'>,
    template: JsonObject,
  ): Promise<void>;
  /** Prompts in order of creation. @throws GatewayError `invalid_request` for an unknown `after` */
  list(projectId: string, page: PageRequest): Promise<PromptPage>;
  find(projectId: string, id: string): Promise<StoredPrompt | null>;
  /** A version, by default the default one; null if there is no such prompt or version. */
  findVersion(projectId: string, id: string, version?: string): Promise<PromptVersion | null>;
  /**
   * Adds a version, which is not the default yet. @returns its number; null if there is no such prompt. @throws
   * GatewayError `quota`
   */
  addVersion(projectId: string, id: string, template: JsonObject, createdAt: UnixMs): Promise<string | null>;
  /** @returns false if there is no such prompt or version */
  setDefault(projectId: string, id: string, version: string): Promise<boolean>;
  /** @returns false if there is no such prompt. @throws GatewayError `quota` */
  setName(projectId: string, id: string, name: string | null): Promise<boolean>;
  /** @returns false if there is no such prompt or version. @throws GatewayError `conflict` for the default version */
  deleteVersion(projectId: string, id: string, version: string): Promise<boolean>;
  /** @returns false if there is no such prompt */
  delete(projectId: string, id: string): Promise<boolean>;
}
