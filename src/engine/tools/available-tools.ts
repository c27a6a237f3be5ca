// The tools that the gateway can run for models under the current configuration. Composed once per configuration.
import type { ToolKind } from './gateway-tool.ts';

/** Whether an upstream that has a tool itself may run it. */
export type Native = 'prefer' | 'never';

/** The kinds of tools that are configured. */
export type AvailableTools = readonly ToolKind[];
