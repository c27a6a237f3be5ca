// Tools that the gateway can run under the current configuration. Built once per configuration.
import type { ToolKind } from './gateway-tool.ts';

/** Native execution of a tool by an upstream: preferred or never. */
export type Native = 'prefer' | 'never';

/** Configured kinds of tools. */
export type AvailableTools = readonly ToolKind[];
