// ONNX files that are dropped on the canvas, from JupyterLab's file browser and from outside.

import { MimeData } from '@lumino/coreutils';

import { plainTranslator } from '../../../editor';
import { acceptSources, type Dropping } from '../class-drop';

function open(taken: string[] = []) {
  const panel = document.createElement('div');
  panel.innerHTML = '<div class="labdl-canvas"><p></p></div>';
  const notices: string[] = [];
  const saved: [string, string][] = [];
  const converted: string[] = [];
  acceptSources(panel, {
    contents: {
      get: (path: string) =>
        taken.includes(path)
          ? Promise.resolve({})
          : Promise.reject(new Error()),
      save: async (path: string, { content }: { content: string }) =>
        void saved.push([path, content])
    },
    actions: () => ({
      say: (text: string) => notices.push(text),
      focus: () => {}
    }),
    folder: () => 'models',
    convert: async (path: string) => void converted.push(path),
    mayEdit: () => true,
    trans: plainTranslator
  } as unknown as Dropping);
  const drop = async (event: Event) => {
    panel.querySelector('p')?.dispatchEvent(event);
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(resolve => setTimeout(resolve));
    }
    return event.defaultPrevented;
  };
  return { drop, notices, saved, converted };
}

function dropOf(...files: File[]): Event {
  const event = new Event('drop', { bubbles: true, cancelable: true });
  return Object.assign(event, { dataTransfer: { files } });
}

const ONNX = new File(['abc'], 'Net.ONNX');

test('a file from outside is stored beside the model and converted', async () => {
  const { drop, notices, saved, converted } = open();
  expect(await drop(dropOf(ONNX))).toBe(true);
  expect(saved).toEqual([['models/Net.ONNX', btoa('abc')]]);
  expect(converted).toEqual(['models/Net.ONNX']);
  expect(notices).toEqual([]);
});

test('a file that is there already is not overwritten', async () => {
  const { drop, notices, saved, converted } = open(['models/Net.ONNX']);
  await drop(dropOf(ONNX));
  expect([saved, converted]).toEqual([[], []]);
  expect(notices[0]).toContain('already exists');
});

test('other files are left to the canvas', async () => {
  const { drop } = open();
  expect(await drop(dropOf(new File([''], 'net.py')))).toBe(false);
});

test('a file of the file browser is converted where it is', async () => {
  const { drop, converted, saved } = open();
  const mimeData = new MimeData();
  mimeData.setData('application/x-jupyter-icontents', ['data/net.onnx']);
  const event = new Event('lm-drop', { bubbles: true, cancelable: true });
  await drop(Object.assign(event, { mimeData, proposedAction: 'move' }));
  expect(converted).toEqual(['data/net.onnx']);
  expect(saved).toEqual([]);
});
