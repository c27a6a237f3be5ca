// Form for the settings of all playground requests.
import { useState, type ReactNode } from 'react';
import { Field, SelectField, TextField } from '../ui/field.tsx';
import type { Settings, Tool } from './conversation.ts';

type Common = Omit<Settings, 'model'>;

export const USUAL: Common = {
  system: '',
  effort: '',
  maxTokens: 4_096,
  temperature: '',
  tools: [],
  mcp: '',
};

const EXAMPLE: readonly Tool[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

interface SettingsFormProps {
  readonly settings: Common;
  readonly onChange: (settings: Common) => void;
}

export function SettingsForm({ settings, onChange }: SettingsFormProps): ReactNode {
  const set = (changes: Partial<Common>): void => onChange({ ...settings, ...changes });
  return (
    <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-1">
      <Field label="System" className="sm:col-span-2 xl:col-span-1">
        {(control) => (
          <textarea
            {...control}
            className="field"
            rows={4}
            value={settings.system}
            onChange={({ target }) => set({ system: target.value })}
          />
        )}
      </Field>
      <SelectField
        label="Reasoning"
        value={settings.effort}
        onChange={(text) => set({ effort: text as Common['effort'] })}
      >
        <option value="">Model default</option>
        <option value="low">low</option>
        <option value="medium">medium</option>
        <option value="high">high</option>
      </SelectField>
      <TextField
        label="Maximum output tokens"
        type="number"
        min={1}
        value={settings.maxTokens}
        onChange={(text) => set({ maxTokens: Math.max(1, Number(text) || 1) })}
      />
      <TextField
        label="Temperature"
        type="number"
        min={0}
        max={2}
        step={0.1}
        placeholder="Model default"
        value={settings.temperature}
        onChange={(text) => set({ temperature: text })}
      />
      <ToolsField tools={settings.tools} onChange={(tools) => set({ tools })} />
      <TextField
        label="MCP server"
        hint="The gateway runs its tools. Not available with Gemini."
        type="url"
        placeholder="https://mcp.example/mcp"
        value={settings.mcp}
        onChange={(text) => set({ mcp: text })}
      />
    </div>
  );
}

function ToolsField({
  tools,
  onChange,
}: {
  readonly tools: readonly Tool[];
  readonly onChange: (tools: readonly Tool[]) => void;
}): ReactNode {
  const [text, setText] = useState(tools.length === 0 ? '' : JSON.stringify(tools, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const take = (next: string): void => {
    setText(next);
    try {
      const parsed: unknown = next.trim() === '' ? [] : JSON.parse(next);
      if (!Array.isArray(parsed)) throw new Error('must be a list');
      setProblem(null);
      onChange(parsed as readonly Tool[]);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Field
      label="Tools (JSON)"
      className="sm:col-span-2 xl:col-span-1"
      error={problem}
      hint={
        <button
          type="button"
          className="target text-accent underline"
          onClick={() => take(JSON.stringify(EXAMPLE, null, 2))}
        >
          Insert an example
        </button>
      }
    >
      {(control) => (
        <textarea
          {...control}
          className="field font-mono"
          rows={3}
          value={text}
          onChange={({ target }) => take(target.value)}
        />
      )}
    </Field>
  );
}
