import { synthesizeAnswer } from 'postchain';
import { scriptedModel } from 'postchain/testing';

const model = scriptedModel({
  synthesis: [{ answerText: 'It is running on port 80.', confidence: 0.9, usedMessageIds: [], notes: '' }],
});

const answer = await synthesizeAnswer(
  {
    request: 'Deploy the application and report where it runs.',
    executionResults: [{ stepId: 's1', phase: 'deploy', content: 'Started; listening on port 80.' }],
    planState: { goal: 'a running application', steps: ['build', 'deploy'] },
    convergenceAssessment: { confidence: 0.8, rationale: 'the step is done' },
    correlationId: 'run-7',
    executionStartTimestamp: '2025-01-27T10:00:00Z',
    convergenceStatus: true,
    totalPasses: 1,
    totalRefinements: 0,
    ttlRemaining: 0,
  },
  { model },
);
console.log(answer.answerText, answer.metadata.reason, answer.notes);
