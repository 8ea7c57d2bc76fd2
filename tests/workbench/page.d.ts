// What the page keeps where its tests find it.
interface Window {
  workbench: any;
  served: any;
  page: any;
}
