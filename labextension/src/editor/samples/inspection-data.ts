// Types for the statistics of parameters and activations.

import type { Activation } from '../../api/inspection';

export type {
  Activation,
  ArrayStats,
  ParameterStats,
  SampleAnswer,
  SampleOrigin,
  SamplePrediction,
  WeightsAnswer
} from '../../api/inspection';

/** The activations of one node, by output port. */
export type NodeActivations = { [port: string]: Activation };
