import type { z } from 'zod';

/** A contract by its name, with the requirement it stands for, a valid value, and values that it must refuse by their path. */
export interface ContractCase {
  readonly title: string;
  readonly schema: z.ZodType;
  readonly value: object;
  readonly bad: readonly (readonly [path: string, value: unknown])[];
}

export const contractCase = (
  ids: string,
  name: string,
  schema: z.ZodType,
  value: object,
  ...bad: ContractCase['bad']
): ContractCase => ({ title: `${ids} ${name}`, schema, value, bad });
