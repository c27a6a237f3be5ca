// Form fields for budgets and request limits, shared by keys and projects.
import type { ReactNode } from 'react';
import { SelectField, TextField } from '../ui/field.tsx';
import { PERIODS, type Allowance } from './allowance.ts';

interface AllowanceFieldsProps {
  readonly allowance: Allowance;
  readonly onChange: (allowance: Allowance) => void;
}

/** Amount and period of the budget. */
export function BudgetFields({ allowance, onChange }: AllowanceFieldsProps): ReactNode {
  const set = (changes: Partial<Allowance>): void => onChange({ ...allowance, ...changes });
  return (
    <div className="grid grid-cols-2 gap-4">
      <TextField
        label="Budget in USD"
        hint="Empty: none."
        type="number"
        min={0}
        step="any"
        value={allowance.usd}
        onChange={(text) => set({ usd: text })}
      />
      <SelectField label="Budget period" value={allowance.per} onChange={(text) => set({ per: text })}>
        {PERIODS.map(([per, text]) => (
          <option key={per} value={per}>
            {text}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

/** Fields that are rarely changed: request limits, and whether models without a price are allowed. */
export function LimitFields({ allowance, onChange }: AllowanceFieldsProps): ReactNode {
  const set = (changes: Partial<Allowance>): void => onChange({ ...allowance, ...changes });
  const others = allowance.rest.budgets.length + allowance.rest.limits.length;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Requests per minute"
          hint="Empty: unlimited."
          type="number"
          min={1}
          value={allowance.requests}
          onChange={(text) => set({ requests: text })}
        />
        <SelectField
          label="Models without a price"
          hint="Applies if there is a budget, because their cost is unknown."
          value={allowance.unpriced}
          onChange={(text) => set({ unpriced: text as Allowance['unpriced'] })}
        >
          <option value="refuse">refuse</option>
          <option value="allow">allow</option>
        </SelectField>
      </div>
      {others > 0 && (
        <p className="text-sm text-soft">
          {others === 1 ? 'One other limit or budget' : `${others} other limits and budgets`} that this form
          has no field for stay as they are.
        </p>
      )}
    </>
  );
}
