// Put behind plotly's own widget script, which calls its view class VIEW.
// plotly lets a view that was taken off the page hear its figure's changes for ever, and answers each
// with an error on the console: between the moment in which a cell's output is cleared and the one in
// which the kernel hears of it, there is always a change under way. So a view that is gone is deaf.
{
  const { perform_render, remove } = VIEW.prototype;
  VIEW.prototype.perform_render = function () {
    const model = this.model;
    const on = (name, hear) => model.on(name, (...change) => this.gone || hear(...change));
    this.model = Object.create(model, { on: { value: on } });
    return perform_render.call(this);
  };
  VIEW.prototype.remove = function () {
    this.gone = true;
    return remove.call(this);
  };
}
