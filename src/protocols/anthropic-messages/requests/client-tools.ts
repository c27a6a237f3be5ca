// Anthropic's client tools, whose schemas only Claude knows (shell, editor, memory, screen), as functions for other
// models. Their calls are ordinary `tool_use` blocks, so answers need no conversion.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';

/** Description of a tool for models that do not know it. */
export interface ClientToolForm {
  /** Name that Anthropic requires for the type. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly parameters: JsonObject;
}

const TEXT = { type: 'string' } as const;
const INTEGER = { type: 'integer' } as const;
const POINT = { type: 'array', items: INTEGER, minItems: 2, maxItems: 2 } as const;

function schema(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** `bash_*` (documentation "Bash tool", 2026-11). */
function bash(): ClientToolForm {
  return {
    name: 'bash',
    description:
      "Runs a command in a shell on the user's machine that stays open between calls, and returns what it prints.",
    parameters: schema(
      {
        command: { ...TEXT, description: 'The command. Needed unless the shell is restarted.' },
        restart: { type: 'boolean', description: 'True: starts the shell anew.' },
      },
      [],
    ),
  };
}

const EDITS: JsonObject = {
  path: { ...TEXT, description: 'Path of the file or directory.' },
  file_text: { ...TEXT, description: 'create: the whole text of the file.' },
  old_str: {
    ...TEXT,
    description: 'str_replace: the text to replace, exactly as it stands there, in one place.',
  },
  insert_line: { ...INTEGER, description: 'insert: the line after which to insert; 0 is the beginning.' },
  view_range: { ...POINT, description: 'view: first and last line, from 1; -1 is the end of the file.' },
};
const NEW_TEXT = { ...TEXT, description: 'str_replace: the text to put there.' };
const INSERTED = { ...TEXT, description: 'insert: the text to insert.' };

function commands(names: readonly string[]): JsonObject {
  return { type: 'string', enum: names, description: 'What to do.' };
}

/**
 * `text_editor_*` (documentation "Text editor tool", 2026-11). Versions before 2025-04-29 have another name, support
 * undo, and insert `new_str` instead of `insert_text`.
 */
function textEditor(type: string): ClientToolForm {
  const isOld = type < 'text_editor_20250429';
  const names = ['view', 'create', 'str_replace', 'insert'];
  return {
    name: isOld ? 'str_replace_editor' : 'str_replace_based_edit_tool',
    description:
      "Shows, creates and changes text files on the user's machine. Shows the entries of a directory as well.",
    parameters: schema(
      {
        command: commands(isOld ? [...names, 'undo_edit'] : names),
        ...EDITS,
        ...(isOld
          ? { new_str: { ...TEXT, description: 'str_replace, insert: the text to put there.' } }
          : { new_str: NEW_TEXT, insert_text: INSERTED }),
      },
      ['command', 'path'],
    ),
  };
}

/** `memory_*` (documentation "Memory tool", 2026-11; SDK types `BetaMemoryTool20250818…Command`). */
function memory(): ClientToolForm {
  return {
    name: 'memory',
    description:
      'Reads and writes files below /memories that outlive this conversation. Look there before you begin, and note there what will be worth knowing later.',
    parameters: schema(
      {
        command: commands(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']),
        ...EDITS,
        new_str: NEW_TEXT,
        insert_text: INSERTED,
        old_path: { ...TEXT, description: 'rename: the current path.' },
        new_path: { ...TEXT, description: 'rename: the new path.' },
      },
      ['command'],
    ),
  };
}

const FIRST_ACTIONS = [
  'screenshot',
  'left_click',
  'right_click',
  'middle_click',
  'double_click',
  'left_click_drag',
  'mouse_move',
  'cursor_position',
  'type',
  'key',
];
const LATER_ACTIONS = ['triple_click', 'left_mouse_down', 'left_mouse_up', 'scroll', 'hold_key', 'wait'];

/** `computer_*` (documentation "Computer use tool", 2026-11). The tool contains the screen size. */
function computer(type: string, raw: JsonObject): ClientToolForm {
  const { display_width_px: width, display_height_px: height } = raw;
  const zooms = raw['enable_zoom'] === true;
  const isFirst = type < 'computer_20250124';
  const later: Readonly<Record<string, JsonValue>> = {
    scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'], description: 'scroll' },
    scroll_amount: { ...INTEGER, description: 'scroll: clicks of the wheel.' },
    duration: { type: 'number', description: 'hold_key, wait: seconds.' },
  };
  const zoom = {
    region: { type: 'array', items: INTEGER, minItems: 4, maxItems: 4, description: 'zoom: x0, y0, x1, y1.' },
  };
  return {
    name: 'computer',
    description: `Controls the user's screen, mouse and keyboard, one action per call. The screen is ${String(width)} pixels wide and ${String(height)} high. Take a screenshot to see what an action did.`,
    parameters: schema(
      {
        action: {
          type: 'string',
          enum: [...FIRST_ACTIONS, ...(isFirst ? [] : LATER_ACTIONS), ...(zooms ? ['zoom'] : [])],
          description: 'What to do.',
        },
        coordinate: {
          ...POINT,
          description: 'Pixels from the left and from the top: where to click, move, scroll or drag to.',
        },
        start_coordinate: { ...POINT, description: 'left_click_drag: where to begin.' },
        text: {
          ...TEXT,
          description:
            'type: the text. key, hold_key: the keys, joined by +. Clicks and scroll: a key to hold down meanwhile.',
        },
        ...(isFirst ? {} : later),
        ...(zooms ? zoom : {}),
      },
      ['action'],
    ),
  };
}

/** Forms by the part of the tool's type before the date. */
const FORMS: Readonly<Record<string, (type: string, raw: JsonObject) => ClientToolForm>> = {
  bash,
  text_editor: textEditor,
  memory,
  computer,
};

/**
 * Returns the function for one of Anthropic's client tools; undefined for other types.
 * @param type e.g. `bash_20250124`; unknown later dates use the newest known form
 * @param raw the tool as sent
 */
export function clientToolForm(type: string, raw: JsonObject): ClientToolForm | undefined {
  const family = /^([a-z_]+)_\d{8}$/.exec(type)?.[1] ?? '';
  return Object.hasOwn(FORMS, family) ? FORMS[family]?.(type, raw) : undefined;
}
