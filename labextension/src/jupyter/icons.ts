// Icons of LabDL; all others are JupyterLab's own.

import { LabIcon } from '@jupyterlab/ui-components';

import dataSvg from '../../style/icons/data.svg';
import fitSvg from '../../style/icons/fit.svg';
import graphSvg from '../../style/icons/graph.svg';
import layoutSvg from '../../style/icons/layout.svg';
import noteSvg from '../../style/icons/note.svg';
import runSvg from '../../style/icons/run.svg';
import sampleSvg from '../../style/icons/sample.svg';

export const dataIcon = new LabIcon({ name: 'labdl:data', svgstr: dataSvg });
export const graphIcon = new LabIcon({ name: 'labdl:graph', svgstr: graphSvg });
export const layoutIcon = new LabIcon({
  name: 'labdl:layout',
  svgstr: layoutSvg
});
export const fitIcon = new LabIcon({ name: 'labdl:fit', svgstr: fitSvg });
export const noteIcon = new LabIcon({ name: 'labdl:note', svgstr: noteSvg });
export const runsIcon = new LabIcon({ name: 'labdl:run', svgstr: runSvg });
export const sampleIcon = new LabIcon({
  name: 'labdl:sample',
  svgstr: sampleSvg
});
