import type { Draws } from '../../../src/engine/attempts/seeded.ts';
import { aDecision, aPhaseFailure } from '../../contracts/samples.ts';
import { type FieldDraws, membersOf } from './draw-fields.ts';
import { runOf, stepsOf } from './draw-parts.ts';
import type { Facts } from './facts.ts';
import { type Field, NOT_A_COUNT, NOT_A_FLAG, NOT_A_LIST, NOT_A_TEXT, TEXTS, TIMES } from './values.ts';

export interface DrawnInput {
  readonly given: Record<string, unknown>;
  readonly facts: Facts;
  /** The fields that are missing or wrong, by their paths. */
  readonly bad: readonly string[];
}

/** An input of synthesis: any subset of its fields missing, wrong or extreme. */
export function drawInput(draw: Draws): DrawnInput {
  const bad: string[] = [];
  const sick = draw.weighted([
    [50, 0],
    [35, 0.05],
    [10, 0.3],
    [5, 0.95],
  ]);
  const fields: FieldDraws = {
    ...draw,
    sick,
    bad: (path) => void bad.push(path),
    field(into, { name, path = name, optional = false }, right, wrong, otherwise) {
      if (!draw.chance(sick)) {
        const value = draw.pick(right);
        if (!optional || value !== undefined) into[name] = value;
        return value;
      }
      if (draw.chance(0.3)) {
        if (draw.chance(0.5)) into[name] = undefined;
        if (!optional) bad.push(path);
        return otherwise;
      }
      into[name] = draw.pick(wrong);
      bad.push(path);
      return otherwise;
    },
  };
  const given: Record<string, unknown> = {};
  const facts = factsOf(fields, given);
  return { given, facts, bad };
}

function factsOf(draw: FieldDraws, given: Record<string, unknown>): Facts {
  const said = TEXTS.filter((text) => text.trim() !== '');
  const request = draw.field<string | null>(
    given,
    { name: 'request' },
    ['When was it opened?', ...said],
    ['', ' ', ...NOT_A_TEXT],
    null,
  );
  const steps = stepsOf(draw, given);
  planOf(draw, given);
  const confidence = assessmentOf(draw, given);
  draw.field(given, { name: 'executionPasses', optional: true }, [null, [], [aDecision()]], [5, 'x', {}], null);
  const failures = failuresOf(draw, given);
  profileOf(draw, given);
  draw.field(given, { name: 'correlationId' }, ['r1', '💥'], ['', ...NOT_A_TEXT], '');
  draw.field(
    given,
    { name: 'executionStartTimestamp' },
    TIMES,
    ['yesterday', '', '2025-13-01T00:00:00Z', ...NOT_A_TEXT],
    '',
  );
  const converged = draw.field(
    given,
    { name: 'convergenceStatus' },
    [true, true, false],
    NOT_A_FLAG,
    null as boolean | null,
  );
  const passes = draw.field(
    given,
    { name: 'totalPasses' },
    [1, 3, 3, 0, Number.MAX_SAFE_INTEGER],
    NOT_A_COUNT,
    null as number | null,
  );
  draw.field(given, { name: 'totalRefinements' }, [0, 2, Number.MAX_SAFE_INTEGER], NOT_A_COUNT, 0);
  const ttl = draw.field(
    given,
    { name: 'ttlRemaining' },
    [2, 5, 0, Number.MAX_SAFE_INTEGER],
    NOT_A_COUNT,
    null as number | null,
  );
  return { request, steps, confidence, failures, converged, passes, ttl, run: runOf(draw, given) };
}

function planOf(draw: FieldDraws, given: Record<string, unknown>): void {
  membersOf(
    draw,
    given,
    { name: 'planState' },
    (plan) => {
      draw.field(plan, { name: 'goal', path: 'planState.goal' }, [null, ...TEXTS], [5, {}, []], null);
      draw.field(
        plan,
        { name: 'alternatives', path: 'planState.alternatives' },
        [[], ['a']],
        [null, ...NOT_A_LIST],
        [],
      );
    },
    undefined,
  );
}

function assessmentOf(draw: FieldDraws, given: Record<string, unknown>): number {
  const at = (name: string): Field => ({ name, path: `convergenceAssessment.${name}` });
  return membersOf(
    draw,
    given,
    { name: 'convergenceAssessment' },
    (assessment) => {
      draw.field(assessment, at('change'), [null, 0, 1e308], ['x', Number.NaN, {}], null);
      draw.field(assessment, at('rationale'), TEXTS, NOT_A_TEXT, '');
      return draw.field(
        assessment,
        at('confidence'),
        [0, 0.5, 1],
        [-0.1, 1.1, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
        0,
      );
    },
    0,
  );
}

function failuresOf(draw: FieldDraws, given: Record<string, unknown>): Facts['failures'] {
  const right = [[], [], [], [aPhaseFailure('experience')], [aPhaseFailure('deploy'), aPhaseFailure('action')]];
  const field = { name: 'failures', path: 'semanticValidation.failures' };
  return membersOf(
    draw,
    given,
    { name: 'semanticValidation', optional: true },
    (validation) => draw.field(validation, field, right, [null, ...NOT_A_LIST], []),
    [],
  );
}

function profileOf(draw: FieldDraws, given: Record<string, unknown>): void {
  const field = { name: 'prompt', path: 'taskProfile.prompt' };
  membersOf(
    draw,
    given,
    { name: 'taskProfile', optional: true },
    (profile) => draw.field(profile, field, TEXTS, NOT_A_TEXT, ''),
    '',
  );
}
