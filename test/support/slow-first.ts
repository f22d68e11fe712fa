import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest. If one of them came last, it would run alone. */
const SLOW = /\/(?:builtin-charts|mutants|seeded-faults|http|kill|limited-memory|runs)\.(?:full\.)?test\.ts$/u;

/** Without results of an earlier run, Vitest starts with the largest files; this one starts with the slow ones. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
