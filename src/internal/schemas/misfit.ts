import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Failure, FailureStage } from '../../../machines/contracts/failure.ts';
import { failureOf, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { type IssueKind, marksOf, vendorOf } from './vendors.ts';

/** A value that its schema refuses: where and why, and the stage at which it failed [A10]. `what` names the schema. */
export function misfit(what: string, vendor: string, issues: readonly StandardSchemaV1.Issue[]): Failure {
  const { kindOf } = vendorOf(vendor);
  const kinds = new Set(issues.map((issue) => kindOf(marksOf(issue))));
  const places = issues.length === 1 ? 'one place' : `${issues.length} places`;
  const message = `The reply does not fit the schema of "${what}" in ${places}.`;
  return failureOf(stageOf(kinds), 'invalid_reply', message, {
    issues: issues.map(({ path = [], message: says }) => ({ path: path.map(nameOf).join('.'), message: String(says) })),
  });
}

/** A schema that threw: something in it, usually a transformation, took the value and could not do its work. */
export function cannotTransform(error: unknown): Failure {
  const message = `The reply fits its schema, but cannot be transformed: ${unexpectedFailure(error).message}`;
  return failureOf('transformation', 'transformation_failed', message);
}

/** The first stage that failed: what has the wrong shape counts more than a broken rule. */
function stageOf(kinds: ReadonlySet<IssueKind>): FailureStage {
  if (kinds.has('shape') || kinds.size === 0) return 'schema';
  return kinds.has('rule') ? 'refinement' : 'transformation';
}

function nameOf(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}
