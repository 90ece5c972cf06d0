// React hook for the pipeline of a data set: its edits, saving, and its use in training.

import { useEffect, useReducer, useState } from 'react';
import type { DatasetSummary, SavedPipeline } from '../api/data';
import { errorText } from './error-text';
import type { DataHost } from './host';
import {
  edit,
  isChanged,
  plain,
  startPipeline,
  type Edit,
  type PipelineState
} from './pipeline/pipeline-edits';
import type { Used } from './UseInTraining';

export interface PipelineEditing {
  state: PipelineState;
  onEdit: (edit: Edit) => void;
  /** Whether there are edits that are not saved. */
  isChanged: boolean;
  isSaving: boolean;
  problem: string | null;
  used: Used | null;
  save: () => void;
  train: () => void;
  forgetUsed: () => void;
}

export function usePipeline(
  host: DataHost,
  summary: DatasetSummary
): PipelineEditing {
  const [state, onEdit] = useReducer(edit, null, () =>
    startPipeline(summary.pipeline, host.draft?.() ?? null)
  );
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [used, setUsed] = useState<Used | null>(null);
  const changed = isChanged(state);

  useEffect(() => {
    host.keepDraft?.(changed ? plain(state.now) : null);
  }, [host, changed, state.now]);

  const write = async (next?: (saved: SavedPipeline) => Promise<void>) => {
    if (isSaving) {
      return;
    }
    const pipeline = plain(state.now);
    setSaving(true);
    setProblem(null);
    try {
      const saved = await host.save(pipeline);
      onEdit({ kind: 'saved', pipeline });
      await next?.(saved);
    } catch (error) {
      setProblem(errorText(error));
    }
    setSaving(false);
  };
  return {
    state,
    onEdit,
    isChanged: changed,
    isSaving,
    problem,
    used,
    save: () => void write(),
    train: () =>
      void write(async saved => {
        const model = host.train && (await host.train(saved));
        setUsed({ saved, model });
      }),
    forgetUsed: () => setUsed(null)
  };
}
