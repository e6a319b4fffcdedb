// What AOTInductor of torch 2.14.1 generated for a program with backed sizes; without helpers and texts of exceptions.

AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::shared_ptr<std::vector<ConstantHandle>> constants_array,
                                   const std::string& device_str,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(4,
                           5,
                           0,
                           device_str,
                           std::move(cubin_dir),
                           true) {
    inputs_info_[0].name = "arg0_1";
    inputs_info_[1].name = "arg1_1";
    inputs_info_[2].name = "arg2_1";
    inputs_info_[3].name = "arg3_1";
    update_constants_map(std::move(constants_map));
    update_constants_array(std::move(constants_array));
    in_spec_ = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}, {"type": "builtins.dict", "context": "[\"p\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}]}, {"type": null, "context": null, "children_spec": []}]}, {"type": "builtins.dict", "context": "[\"k\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}]}]}])";
    out_spec_ = R"([1, {"type": "builtins.dict", "context": "[\"s\", \"q\", \"n\", \"z\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}, {"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}])";
    outputs_info_[0].name = "output0";
    outputs_info_[1].name = "output1";
    outputs_info_[2].name = "output2";
    outputs_info_[3].name = "output3";
    outputs_info_[4].name = "output4";
    this->kernels_ = std::make_unique<AOTInductorModelKernels>();
}

AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg0_1 = ConstantHandle(input_handles[0]);
    int32_t arg0_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg0_1, &arg0_1_dtype));

    int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg0_1_expected_dtype != arg0_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg0_1_size = arg0_1.sizes();

    if (arg0_1_size[0] < 2) {
        throw std::runtime_error("…");
    }

    if (arg0_1_size[0] > 32) {
        throw std::runtime_error("…");
    }

    if (arg0_1_size[1] < 4) {
        throw std::runtime_error("…");
    }
    auto arg0_1_stride = arg0_1.strides();

    if (1 != arg0_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg0_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg0_1, &arg0_1_device_type));

    int32_t arg0_1_expected_device_type = 0;
    if (arg0_1_expected_device_type != arg0_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_1(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg1_1 = ConstantHandle(input_handles[1]);
    int32_t arg1_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg1_1, &arg1_1_dtype));

    int32_t arg1_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg1_1_expected_dtype != arg1_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg1_1_size = arg1_1.sizes();

    if (arg1_1_size[0] < 8) {
        throw std::runtime_error("…");
    }

    if (2 != arg1_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg1_1_stride = arg1_1.strides();

    if (2 != arg1_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg1_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg1_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg1_1, &arg1_1_device_type));

    int32_t arg1_1_expected_device_type = 0;
    if (arg1_1_expected_device_type != arg1_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_2(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg2_1 = ConstantHandle(input_handles[2]);
    int32_t arg2_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg2_1, &arg2_1_dtype));

    int32_t arg2_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg2_1_expected_dtype != arg2_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg2_1_size = arg2_1.sizes();

    if (arg2_1_size[0] < 4) {
        throw std::runtime_error("…");
    }

    if (3 != arg2_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg2_1_stride = arg2_1.strides();

    if (3 != arg2_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg2_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg2_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg2_1, &arg2_1_device_type));

    int32_t arg2_1_expected_device_type = 0;
    if (arg2_1_expected_device_type != arg2_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_3(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg3_1 = ConstantHandle(input_handles[3]);
    int32_t arg3_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg3_1, &arg3_1_dtype));

    int32_t arg3_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg3_1_expected_dtype != arg3_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg3_1_size = arg3_1.sizes();

    if (arg3_1_size[0] < 2) {
        throw std::runtime_error("…");
    }

    if (arg3_1_size[0] > 32) {
        throw std::runtime_error("…");
    }

    if (7 != arg3_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg3_1_stride = arg3_1.strides();

    if (7 != arg3_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg3_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg3_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg3_1, &arg3_1_device_type));

    int32_t arg3_1_expected_device_type = 0;
    if (arg3_1_expected_device_type != arg3_1_device_type) {
        throw std::runtime_error("…");
    }
}

static bool _check_aoti_runtime_check_inputs_env() {
    const static char* env_var_value = getenv("AOTI_RUNTIME_CHECK_INPUTS");
    const static bool result = env_var_value != nullptr && env_var_value[0] != '0';
    return result;
}

AOTI_NOINLINE static void __check_inputs_outputs(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles) {
    if (!_check_aoti_runtime_check_inputs_env()){
        return;
    }
    check_input_0(input_handles);
    check_input_1(input_handles);
    check_input_2(input_handles);
    check_input_3(input_handles);
}

void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles, // array of input AtenTensorHandle; handles
                        // are stolen; the array itself is borrowed
    AtenTensorHandle*
        output_handles, // array for writing output AtenTensorHandle; handles
                        // will be stolen by the caller; the array itself is
                        // borrowed
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    __check_inputs_outputs(input_handles, output_handles);
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 4);
    auto arg0_1 = std::move(inputs[0]);
    auto arg1_1 = std::move(inputs[1]);
    auto arg2_1 = std::move(inputs[2]);
    auto arg3_1 = std::move(inputs[3]);
    auto arg0_1_size = arg0_1.sizes();
    int64_t s22 = arg0_1_size[0];
    int64_t s77 = s22;
    int64_t s27 = arg0_1_size[1];
    int64_t s37 = s27;
    auto arg1_1_size = arg1_1.sizes();
    int64_t arg1_1_size_0 = arg1_1_size[0];
    int64_t s69 = c10::div_floor_integer(static_cast<int64_t>(arg1_1_size_0), static_cast<int64_t>(4L));
    inputs.clear();
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg2_1, {s27, 3L}, {3L, 1L}, "input"); }
    // Topologically Sorted Source Nodes: [nonzero], Original ATen: [aten.nonzero]
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_nonzero(arg2_1, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    auto u0 = buf0.size(0);
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf0, {u0, 2L}, {1L, u0}, "torch.ops.aten.nonzero.default", cached_torch_dtype_int64, "torch.int64"); }
    if (!(u0 >= 0L)) { throw std::runtime_error("Expected u0 >= 0 but received " + std::to_string(u0)); }
    if (!(u0 <= 9223372036854775806L)) { throw std::runtime_error("Expected u0 <= 9223372036854775806 but received " + std::to_string(u0)); }
    if (!(u0 >= 0L)) { throw std::runtime_error("Expected u0 >= 0 to be True but received " + std::to_string(u0)); }
    static constexpr int64_t *int_array_0=nullptr;
    AtenTensorHandle buf4_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(0, int_array_0, int_array_0, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf4_handle));
    RAIIAtenTensorHandle buf4(buf4_handle);
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg0_1, {s22, s27}, {s27, 1L}, "input"); }
    const int64_t int_array_1[] = {s22, (-1L) + s27};
    const int64_t int_array_2[] = {std::max(static_cast<int64_t>(1L), static_cast<int64_t>((-1L) + s27)), 1L};
    AtenTensorHandle buf5_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_1, int_array_2, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf5_handle));
    RAIIAtenTensorHandle buf5(buf5_handle);
    const int64_t int_array_3[] = {2L, s22, s27};
    const int64_t int_array_4[] = {s22*s27, s27, 1L};
    AtenTensorHandle buf6_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(3, int_array_3, int_array_4, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf6_handle));
    RAIIAtenTensorHandle buf6(buf6_handle);
    cpp_fused_add_cat_slice_sum_0((const float*)(arg2_1.data_ptr()), (const float*)(arg0_1.data_ptr()), (float*)(buf4.data_ptr()), (float*)(buf5.data_ptr()), (float*)(buf6.data_ptr()), s27, s22);
    arg2_1.reset();
    const int64_t int_array_5[] = {2L*s69, 4L};
    static constexpr int64_t int_array_6[] = {4L, 1L};
    const int64_t int_array_7[] = {2L*s22, s27};
    const int64_t int_array_8[] = {s27, 1L};
    auto var_0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg1_1, 2, int_array_5, int_array_6, 0L));
    auto var_1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf6, 2, int_array_7, int_array_8, 0L));
    output_handles[0] = buf5.release();
    output_handles[1] = var_0.release();
    output_handles[2] = var_1.release();
    output_handles[3] = arg0_1.release();
    output_handles[4] = buf0.release();
} // AOTInductorModel::run_impl
