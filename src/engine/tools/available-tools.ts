// Tools that the gateway can run under the current configuration. Built once per configuration.
import type { ToolKind } from './gateway-tool.ts';

/** Whether an upstream may run a tool natively. */
export type Native = 'prefer' | 'never';

/** Configured kinds of tools. */
export type AvailableTools = readonly ToolKind[];
